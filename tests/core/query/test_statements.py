"""Statements about a run: the questions that are offered, and what cannot be asked."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from scheduler_core.__main__ import main
from scheduler_core.record.query.questions import QUESTIONS
from scheduler_core.record.query.statement import QueryError, ask, file_of
from scheduler_core.record.query.tables import TABLES
from scheduler_core.run import simulate
from scheduler_core.scenario.load import load


def test_tables_hold_what_the_run_decided(folder: Path) -> None:
    """Every cycle is a row, and every placement; pods that were preempted are gone."""
    run = simulate(load((folder.parent / "bundle.yaml").read_text()), trace=False)
    decisions = [cycle.decision for cycle in iter(run.step, None)]
    rows = ask(folder, "SELECT pod, result, node, victims FROM cycles ORDER BY cycle").rows
    assert rows == [[one.pod, one.result, one.node, len(one.victims)] for one in decisions]
    victims = sorted(victim for one in decisions for victim in one.victims)
    assert victims
    gone = ask(folder, "SELECT pod FROM pods WHERE state = 'gone' ORDER BY pod").rows
    assert [pod for (pod,) in gone] == [one for one in victims if one not in run.cluster.pods]
    running = ask(folder, "SELECT pod, node FROM pods WHERE state = 'running' ORDER BY pod").rows
    assert running == sorted([key, one.node_name] for key, one in run.cluster.pods.items() if one.node_name)


@pytest.mark.parametrize("question", [one.name for one in QUESTIONS])
def test_every_question_is_answered(folder: Path, capsys: pytest.CaptureFixture[str], question: str) -> None:
    """By its name on the command line, with the columns that its text promises."""
    assert main(["query", str(folder), question, "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"]


def test_answers_are_bounded(folder: Path) -> None:
    """In rows and in bytes; what is left out is said."""
    many = ask(folder, "SELECT range FROM range(100000)")
    assert (len(many.rows), many.more) == (10_000, True)
    wide = ask(folder, "SELECT repeat('x', 100000) FROM range(1000)")
    assert (len(wide.rows) < 50, wide.more) == (True, True)


def test_rows_are_written_as_csv_and_parquet(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the types of their columns, within the bounds of an answer; another ending is refused."""
    sql = "SELECT cycle, time, pod FROM cycles ORDER BY cycle DESC -- newest first"
    expected = ask(folder, sql)
    for name in ("rows.csv", "rows.parquet"):
        assert main(["query", str(folder), sql, "--to", str(tmp_path / name)]) == 0
        made = duckdb.sql(f"FROM '{tmp_path / name}'")
        assert made.columns == expected.columns
        assert list(map(list, made.fetchall())) == expected.rows
    assert str(duckdb.read_parquet(str(tmp_path / "rows.parquet")).types[0]) == "INTEGER"
    assert main(["query", str(folder), sql, "--to", "rows.xls"]) == 2
    assert "--to rows.xls: a file ends in .csv or .parquet" in capsys.readouterr().err
    wide = file_of(folder, "SELECT repeat('x', 100000) FROM range(1000)", "csv")
    assert len(wide) < 5 * 1024**2
    with pytest.raises(QueryError, match="Write exactly one statement"):
        file_of(folder, "COPY cycles TO '/dev/stdout'", "csv")


ONE = "Write exactly one statement, a SELECT"
HOSTILE = (
    ("SELECT 1; SELECT 2", ONE),
    ("", ONE),
    ("-- nothing", ONE),
    ("CREATE TABLE t AS SELECT 1", ONE),
    ("DROP VIEW cycles", ONE),
    ("INSERT INTO cycles SELECT * FROM cycles", ONE),
    ("DELETE FROM cycles", ONE),
    ("COPY cycles TO '/tmp/podstep-out.csv'", ONE),
    ("COPY (SELECT 1) TO 's3://bucket/x.parquet'", ONE),
    ("EXPORT DATABASE '/tmp/podstep-out'", ONE),
    ("ATTACH '/tmp/podstep.db'", ONE),
    ("INSTALL httpfs", ONE),
    ("LOAD httpfs", ONE),
    ("SET enable_external_access = true", ONE),
    ("RESET lock_configuration", ONE),
    ("PRAGMA database_list", ONE),
    ("CALL pragma_version()", ONE),
    ("CHECKPOINT", ONE),
    ("SELECT * FROM read_csv('/etc/passwd')", "disabled"),
    ("SELECT * FROM read_text('/etc/passwd')", "disabled"),
    ("SELECT * FROM read_blob('/proc/self/environ')", "disabled"),
    ("SELECT * FROM '/etc/passwd'", "does not exist"),
    ("SELECT * FROM read_parquet('https://example.com/x.parquet')", "disabled"),
    ("SELECT * FROM glob('/*')", "disabled"),
    ("SELECT * FROM read_json('/etc/hostname')", "disabled"),
    ("SELECT getenv('HOME')", "getenv"),
    ("SELECT nothing FROM cycles", "nothing"),
    ("SELEC 1", "syntax error"),
    ("SELECT length(repeat('x', 1000000000))", "memory"),
    ("SELECT list_sum(list_transform(range(200000000), lambda x: x * 2))", "memory"),
    (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
        "CPU time|15 seconds",
    ),
    ("SELECT '" + "x" * 30_000 + "'", "at most 20,000 characters"),
)


@pytest.mark.parametrize(("sql", "message"), HOSTILE)
def test_hostile_statements_are_refused_or_ended(folder: Path, sql: str, message: str) -> None:
    """Each within its bounds, with a message; nothing outside of the tables is read or written."""
    with pytest.raises(QueryError, match=message):
        ask(folder, sql)
    assert not Path("/tmp/podstep-out.csv").exists()
    assert sorted(one.stem for one in folder.iterdir()) == sorted(TABLES)
