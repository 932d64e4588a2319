-- reasons: Which reasons kept the most pods waiting?
SELECT message, count(DISTINCT pod) AS pods, count(*) AS cycles
FROM cycles WHERE result <> 'scheduled'
GROUP BY message ORDER BY pods DESC LIMIT 50;

-- reasons-by-hour: Which reason kept the most pods waiting, by the hour?
WITH hours AS (SELECT floor(time / 3600)::INTEGER AS hour, message, count(DISTINCT pod) AS pods
  FROM cycles WHERE result <> 'scheduled' GROUP BY ALL)
SELECT * FROM hours
QUALIFY row_number() OVER (PARTITION BY hour ORDER BY pods DESC) = 1 ORDER BY hour;

-- pending: Which pods wait at the end, and why?
SELECT pods.pod, pods.workload, arg_max(message, cycle) AS message, count(*) AS attempts,
  max(cycle) AS cycle
FROM pods JOIN cycles USING (pod) WHERE pods.state = 'pending'
GROUP BY ALL ORDER BY attempts DESC;

-- slowest: Which pods waited longest between their first attempt and their placement?
SELECT pod, min(placements.time) - min(cycles.time) AS seconds, count(DISTINCT cycles.cycle) AS attempts,
  any_value(placements.node) AS node, min(placements.cycle) AS cycle
FROM cycles JOIN placements USING (pod)
GROUP BY pod ORDER BY seconds DESC LIMIT 50;

-- waits: How long did the pods of each workload wait after their first attempt?
WITH waits AS (SELECT pod, min(placements.time) - min(cycles.time) AS seconds
  FROM cycles JOIN placements USING (pod) GROUP BY pod)
SELECT workload, count(*) AS pods, avg(seconds) AS mean, quantile_cont(seconds, 0.95) AS p95,
  max(seconds) AS longest
FROM waits JOIN pods USING (pod) GROUP BY workload ORDER BY p95 DESC;

-- most-preempted: Which workloads lost the most pods to preemption, and to whom?
SELECT victims.workload AS victim, preemptors.workload AS preemptor, count(*) AS pods
FROM preempted JOIN pods AS victims USING (pod)
JOIN pods AS preemptors ON preemptors.pod = preempted.preemptor
GROUP BY ALL ORDER BY pods DESC;

-- retries: Which pods were tried most often?
SELECT pod, count(*) AS attempts, count(*) FILTER (result = 'scheduled') AS placed,
  max(time) - min(time) AS seconds, max(cycle) AS cycle
FROM cycles GROUP BY pod ORDER BY attempts DESC LIMIT 50;

-- throughput: How many pods were placed by the minute?
SELECT floor(time / 60)::INTEGER AS minute, count(*) AS placed
FROM placements GROUP BY ALL ORDER BY minute;

-- nodes: How full is each node at the end?
SELECT nodes.node, nodes.zone, count(pods.pod) AS pods,
  round(coalesce(sum(pods.cpu), 0) / nullif(nodes.cpu, 0), 3) AS cpu,
  round(coalesce(sum(pods.memory), 0) / nullif(nodes.memory, 0), 3) AS memory
FROM nodes LEFT JOIN pods USING (node) GROUP BY nodes.node, nodes.zone, nodes.cpu, nodes.memory
ORDER BY cpu DESC;

-- zones: How are the workloads spread over the zones?
SELECT workload, zone, count(*) AS pods
FROM pods JOIN nodes USING (node) GROUP BY ALL ORDER BY workload, zone;

-- free: Which sizes of free room are left on the nodes?
WITH free AS (SELECT nodes.node, nodes.cpu - coalesce(sum(pods.cpu), 0) AS cpu,
  nodes.memory - coalesce(sum(pods.memory), 0) AS memory
  FROM nodes LEFT JOIN pods USING (node) GROUP BY nodes.node, nodes.cpu, nodes.memory)
SELECT floor(cpu / 1000)::INTEGER AS whole_cpus, count(*) AS nodes,
  round(max(memory) / 1024 ** 3, 1) AS most_gib_of_one
FROM free GROUP BY ALL ORDER BY whole_cpus DESC;

-- sizes: Which requests do the pods have, and how many of each were placed?
SELECT cpu, round(memory / 1024 ** 3, 2) AS gib, count(*) AS pods,
  count(*) FILTER (state = 'running') AS running, count(*) FILTER (state = 'pending') AS pending
FROM pods GROUP BY ALL ORDER BY pods DESC LIMIT 50;
