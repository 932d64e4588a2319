// The frames of docs/protocol.md as types, which tests/playground/test_protocol_document.py holds to the server's
// commands. Amounts are millicores and bytes, times are virtual seconds, unless noted otherwise.

/**
 * What is played: a draft, with a `revision` as its text was then, a stored scenario, a run, or what a link shows; under
 * a `scheduler` where it is not the one that it asks for itself.
 */
export interface Source {
  draft?: string;
  revision?: number;
  scheduler?: string;
  scenario?: string;
  run?: string;
  link?: string;
  /** A side of a stored comparison: its id, and -left or -right. */
  side?: string;
}

/**
 * A release of kube-scheduler, in the page's element `releases`: `timed` if several schedulers share its clock,
 * `hasControllers` if nodes can fail and pods come back.
 */
export interface Release {
  name: string;
  about: string;
  timed: boolean;
  hasControllers: boolean;
  hasHints: boolean;
  terms: Terms;
}

/**
 * An operator's verb, in the page's element `verbs`: what it is called, what it is for, and what is given beside the
 * target. `timed` needs controllers; `about`: it is for one object, for all nodes of a label, or for either;
 * `question` is how its what-if is asked, if it has one; a node in the state `idle` is left as it is.
 */
export interface Verb {
  verb: string;
  title: string;
  help: string;
  kinds: string[];
  timed: boolean;
  about: "any" | "one" | "domain";
  icon: string;
  question: string;
  idle: "" | "cordoned" | "schedulable" | "answering";
  needs: "" | "descheduler";
  value: { label: string; example: string; default: string } | null;
}

/** What a release calls its rules; `points` are the phases of a cycle that it calls otherwise. */
export interface Terms {
  rule: string; // what fails on a node
  rules: string;
  filter: string;
  filters: string;
  scorer: string;
  scorers: string;
  column: string; // where it is clear that it scores
  columns: string;
  filterTab: string;
  cacheTab: string;
  scoreTab: string;
  raw: string;
  score: string;
  reference: string; // the page about them
  all: string; // the part of that page
  points: Record<string, string>;
}

/** An index into the table of nodes or pods. */
export type NodeIndex = number;
export type PodIndex = number;

/** A part of a sentence: text, or what the page makes a link or emphasis of. */
export interface Phrase {
  pod?: string;
  node?: string;
  predicate?: string;
  priority?: string;
  tab?: string;
  group?: string;
  job?: string;
  strong?: string;
}
export type Sentence = (string | Phrase)[] | string;

/** An error or a warning about a text. */
export interface Problem {
  message: string;
  path?: string;
  line?: number | null;
  document?: number | null;
  file?: string;
  unhonored?: string;
  incomplete?: boolean;
}

/** An error or a doubt about a field of a form; `field` is "" where it is about none. */
export interface FieldProblem {
  field: string;
  message: string;
}

export type CacheMode = "off" | "designed" | "v1.11" | "sound" | "batching";

/** What the scheduler runs. */
export interface Policy {
  predicates: string[];
  neverRun: string[];
  priorities: [name: string, weight: number][];
  arguments: Record<string, Argument>;
  hardPodAffinitySymmetricWeight: number;
  alwaysCheckAllPredicates: boolean;
  quirks: "v1.11" | "fixed";
  predicateOrder: "v1.11" | "proposal";
  cache: CacheMode;
  equivalenceClass: "controller" | "attributes";
  audit: boolean;
  staleWrites: "none" | "isUpToDate" | "generations";
  warnings: string[];
}

/** The argument of a predicate or priority, by its kind. */
export type Argument = Record<string, any>;

/** The fields of a node that operations and controllers change; `null` for a node that is not there. */
export interface NodeState {
  cpu?: number;
  memory?: number;
  pods?: number;
  taints?: string[];
  unschedulable?: boolean;
  labels?: Record<string, string>;
  conditions?: string[];
  extended?: Record<string, number>;
}

/** The table of nodes; every list has an entry a node. */
export interface Nodes {
  names: string[];
  cpu: number[];
  memory: number[];
  pods: number[];
  zone: string[];
  taints: string[][];
  unschedulable: boolean[];
  labels: Record<string, string>[];
  extended: Record<string, number[]>;
  conditions: string[][];
  since?: number[];
  until?: (number | null)[];
  updates?: [major: number, node: NodeIndex, state: NodeState][];
  /** Grows whenever the page writes another state into the table. */
  version?: number;
}

export interface Owner {
  kind: string;
  name: string;
}

/** The table of pods; every list but `groups` and `podGroups` has an entry a pod. */
export interface Pods {
  keys: string[];
  cpu: number[];
  memory: number[];
  priority: number[];
  group: number[];
  groups: Owner[];
  podGroup: number[];
  podGroups: string[];
  node: number[];
  extended: Record<string, number[]>;
}

/** Pods that came since the table was sent; it begins at the pod `from`. */
export type LaterPods = Pods & { from: number };

/** A scheduler of the SimulationSettings; delays in seconds. */
export interface ListedScheduler {
  name: string;
  runs: string;
  watchDelay: number;
  decisionTime: number;
  bindDelay: number;
  replicas: number;
  nodes: Record<string, string>;
}

export interface Schedulers {
  design: string;
  views: boolean;
  listed: ListedScheduler[];
}

export interface Opened {
  title: string;
  about: string;
  source: Source;
  revision: number | null;
  scenario: string | null;
  nodes: Nodes;
  pods: Pods;
  cycles: number;
  complete: boolean;
  expected: number | null;
  end: boolean;
  timed: boolean;
  release: "v1.11" | "v1.22" | "v1.37";
  schedulers: Schedulers;
  descheduler: Descheduler | null;
  policy: Policy;
  stopped: string | null;
  warnings: Problem[];
  recorded: number;
  summary: Record<string, number>;
  index: number | null;
}

/** A pending pod's condition in a dump, beside the answer of the simulation. */
export interface RecordedAnswer {
  pod: string;
  reason: string;
  message: string;
  since: string;
  simulated: string;
  agrees: boolean;
  differences: string[];
  causes: string[];
}

/** What happened to a PodGroup in a cycle or just before it; the phase where it has a new one. */
export type Turn = [kind: "phase" | "rejected" | "timeout", group: string, phase: string];

export interface Marks {
  pod: PodIndex[];
  node: NodeIndex[];
  /** One letter a cycle: s scheduled, u unschedulable, e error, p preemption, w waiting at Permit. */
  result: string;
  time: number[];
  operations: number[];
  restarts: number[];
  cache: CacheMarks | null;
  groups: [index: number, ...Turn][];
  passes: [index: number, number: number, evicts: boolean, text: string][];
}

export interface CacheMarks {
  hits: number[];
  evaluations: number[];
  invalidated: number[];
  stale: number[];
}

export type Result = "scheduled" | "unschedulable" | "error" | "preemption" | "waiting" | "undecided";

/** A pod and the node that it goes to; -1: none, -2: it is gone. */
export type Change = [pod: PodIndex, node: number];

/** What is otherwise of a node; `null`: it is not there. */
export type NodeChange = [node: NodeIndex, state: NodeState | null];

/** A pod that is Terminating from a cycle on (1), or no more (0). */
export type TerminatingChange = [pod: PodIndex, is: 0 | 1];

export type ClusterEvent = [type: string, reason: string, object: string, message: string];

/** The cheap record of a cycle. */
export interface Light {
  index: number;
  step: string;
  time: number;
  pod: PodIndex;
  result: Result;
  /** Under v1.37. */
  release?: string;
  node: NodeIndex | null;
  message: string | null;
  feasible: number;
  changes: Change[];
  operations: string[];
  inside: string[];
  policy: number;
  restart: string[] | null;
  quirks: [id: string, parts: string[], text: string][];
  alwaysCheckAll: boolean;
  nominated: [node: NodeIndex, victims: PodIndex[]] | null;
  ladder: [predicate: string, before: number, after: number][];
  story: Sentence[];
  phases: string[];
  events: ClusterEvent[];
  stopped: Record<string, number>;
  queue: [active: number, unschedulable: number];
  cache: [hits: number, evaluations: number, invalidated: number, stale: number] | null;
  waiting: [pod: PodIndex, node: NodeIndex, deadline: number | null][];
  nodes: NodeChange[];
  terminating?: TerminatingChange[];
  profile?: string;
}

/** A number of cycles, and the cluster before the first of them. */
export interface Window {
  from: number;
  placement: number[];
  nodes: NodeChange[] | null;
  cycles: Light[];
  pods?: LaterPods;
  /** Those before the first of them. */
  terminating?: PodIndex[];
}

/** In place of a part that has nothing to show: why. */
export interface Absent {
  why: Sentence;
}

export interface PredicatesPart {
  order: string[];
  fails: [nodes: NodeIndex[], predicates: number[], reasons: number[]];
  reasons: string[][];
  skipped: "after-first-failure" | "none";
  errors: [node: NodeIndex, predicate: number, text: string][];
  /** By predicate: runs over the nodes of one letter: h hit, m evaluated, b beside the cache, . not reached, - none. */
  sources: [letter: string, count: number][][] | null;
  invalidated: [predicate: number, nodes: NodeIndex[] | null][];
  /** Under v1.37: nodes that the walk did not reach, and plugins that PreFilter skipped. */
  outside?: NodeIndex[];
  unneeded?: number[];
  /** What PodTopologySpread counted for each hard constraint; the first domains, those with the fewest pods first. */
  spread?: SpreadCounts[];
}

export interface SpreadCounts {
  key: string;
  maxSkew: number;
  minDomains: number;
  least: number;
  /** Whether the pod matches the constraint's selector. */
  itself: boolean;
  policies: [nodeAffinityPolicy: string, nodeTaintsPolicy: string];
  domains: [value: string, pods: number, refused: boolean][];
  number: number;
  refused: number;
}

/** What would wake the sleeping pods, under v1.37. */
export interface HintsPart {
  release: string;
  count: number;
  pods: {
    pod: string;
    queue: "unschedulable" | "gated";
    attempts: number;
    gatedBy: string | null;
    nominated: string | null;
    retryAt: number | null;
    wakes: { plugin: string; events: string[]; text: string }[];
  }[];
  moves: [event: string, pod: string, hints: [plugin: string, answer: string][], to: string | null][];
  moved: number;
}

export interface ScoreRow {
  name: string;
  /** Under v1.37 one of the last two. */
  kind: "function" | "map" | "map/reduce" | "plugin" | "extender";
  weight: number;
  /** A number stands for a list in which all are the same. */
  raw: number[] | number | null;
  score: number[] | number;
}

export interface PrioritiesPart {
  nodes: NodeIndex[];
  rows: ScoreRow[];
  totals: number[];
  ties: NodeIndex[];
  counter: number;
  inTurn: boolean;
  winner: NodeIndex | null;
  /** Under v1.37, with the score plugins that PreScore skipped, and the profile that was used. */
  release?: string;
  unscored?: string[];
  profile?: string;
  /** Under v1.37: which scores do not mean what one would take them for. */
  said?: Sentence[];
  /** Under v1.37, by node: its place in the order in which equal totals reach the root of the heap. */
  turns?: number[];
  /** Under v1.37 with extenders, if kube-scheduler takes one of several nodes at random. */
  atRandom?: boolean;
}

export interface Candidate {
  node: NodeIndex;
  victims: [pod: string, priority: number, violates: boolean][];
  count: number;
  violations: number;
  lost: number | null;
}

export interface Candidates {
  from: number;
  count: number;
  rows: Candidate[];
}

export interface DryRun {
  node: NodeIndex;
  removed: string[];
  steps: [pod: string, priority: number, budgets: string[], kept: boolean, reasons: string[]][];
  count: number;
}

export interface Criterion {
  id: string;
  text: string;
  note: string;
  stay: [node: NodeIndex, value: number][];
  stayed: number;
  out: [node: NodeIndex, value: number][];
  dropped: number;
  decided: boolean;
}

export interface Hopeless {
  why: "unresolvable" | "nothing-lower" | "still-unfit";
  text: string;
  reasons: string[];
  count: number;
  nodes: NodeIndex[];
}

export interface PreemptionPart {
  outcome: Sentence[];
  eligible: boolean;
  node: NodeIndex | null;
  potential: number;
  victims: number;
  candidates: Candidates;
  run: DryRun | null;
  criteria: Criterion[];
  decidedBy: string | null;
  hopeless: Hopeless[];
  hopelessCount: number;
  cleared: string[];
  leaving: string[];
}

export type QueueName = "active" | "backoff" | "unschedulable" | "gated";

/** A pod in a queue of a run in virtual time. */
export type QueueEntry = [
  pod: string,
  queue: QueueName,
  sort: [priority: number, seconds: number, name?: string],
  whose: "pod" | "group" | "failure",
  since: number,
  attempts: number,
  backoff: number | null,
  why: string,
  event: string,
  refused: string[],
  nominated: string,
  helped: string[],
  retry: number | null,
];

export interface TimedQueue {
  tried: QueueEntry | null;
  counts: Record<QueueName | "waiting", number>;
  entries: QueueEntry[];
  waiting: [pod: string, node: string, since: number, deadline: number | null][];
  flushes: [queue: string, at: number][];
  events: Record<string, string>;
}

export interface QueuePart {
  key?: string;
  timed?: TimedQueue | null;
  /** In place of the rest, where the queues are not known. */
  why?: Sentence;
  time?: number;
  active?: [pod: string, priority: number, position: number][];
  activeCount?: number;
  unschedulable?: [pod: string, priority: number, position: number][];
  unschedulableCount?: number;
}

export interface CacheCounts {
  hits: number;
  misses: number;
  bypassed: number;
  writes: number;
  discarded: number;
  invalidated: number;
  stale: number;
  evaluations: number;
}

export interface Invalidation {
  rule: string;
  words: string;
  source: string;
  event: string;
  predicates: string[] | null;
  nodes: NodeIndex[];
  nodesCount: number | null;
  cleared: number;
  during: boolean;
}

export interface StaleHit {
  node: NodeIndex;
  predicate: string;
  cached: string[];
  true: string[];
  written: number;
  rule: string;
  event: string;
  cause: string;
}

export interface CacheSettings {
  mode: CacheMode;
  equivalenceClass: Policy["equivalenceClass"];
  audit: boolean;
  staleWrites: Policy["staleWrites"];
}

export interface CachePart extends CacheSettings {
  class: { hash: string; name: string; members: number } | null;
  bypass: string;
  hint: NodeIndex | null;
  counts: CacheCounts;
  totals: CacheCounts;
  predicates: [name: string, hits: number, misses: number, bypassed: number, notReached: number][];
  invalidations: Invalidation[];
  invalidationsCount: number;
  byRule: [rule: string, cleared: number][];
  stale: StaleHit[];
  causes: [cause: string, hits: number][];
  entries: number;
  bytes: number;
  classes: number;
  evictedClasses: number;
  evictedEntries: number;
  why?: undefined;
  gone?: undefined;
}

export interface GroupMember {
  pod: string;
  state: string;
  node: string | null;
  deadline: number | null;
  rejected: boolean;
  attempts: number;
  backoffUntil: number | null;
  since: number | null;
  refusedBy: string[];
  retryAt: number | null;
}

export interface ResourceCheck {
  enough: boolean;
  need: Record<string, number>;
  gap: Record<string, number>;
  nodes: {
    node: string;
    resources: {
      resource: string;
      allocatable: number;
      requested: number;
      left: number;
      needBefore: number;
      needAfter: number;
    }[];
  }[];
  nodeCount: number;
}

/** A PodGroup as it stands after a cycle; docs/trace.schema.json has its podGroup. */
export interface GroupRecord {
  key: string;
  minMember: number | null;
  phase: string | null;
  phaseBefore: string | null;
  counters: Record<string, number>;
  assigned: number;
  members: GroupMember[];
  memberCount: number;
  states: Record<string, number>;
  deniedUntil: number | null;
  backedOffUntil: number | null;
  permittedUntil: number | null;
  denials: { group: string; until: number }[];
  denialCount: number;
  backOffs: { group: string; until: number }[];
  backOffCount: number;
  preFilter: {
    code: string;
    why: string;
    message: string;
    siblings: number | null;
    gated: number | null;
    until: number | null;
  } | null;
  resourceCheck: ResourceCheck | null;
  permit: Permit | null;
  postFilter: PostFilter | null;
  time: number;
  attempted: boolean;
  outlook: { now: Sentence; next: [at: number | null, kind: string, text: Sentence][] };
}

export interface Permit {
  code: string;
  why: string;
  message: string;
  assigned: number | null;
  seconds: number | null;
  deadline: number | null;
  activated: string[];
  activatedCount: number;
  allowed: string[];
  allowedCount: number;
}

export interface PostFilter {
  why: string;
  message: string;
  assigned: number | null;
  missingPercent: number | null;
  thresholdPercent: number | null;
  rejected: string[];
  rejectedCount: number;
  deniedUntil: number | null;
  backedOffUntil: number | null;
  extended: boolean;
}

/** A PodGroup in the list of all. */
export type GroupRow = [
  key: string,
  phase: string,
  minMember: number,
  members: number,
  assigned: number,
  waiting: number,
  deniedUntil: number | null,
  backedOffUntil: number | null,
];

export interface PodGroupsPart {
  edition: "classic" | "current";
  coscheduling: boolean;
  note: Sentence | "";
  phases: string[];
  final: string[];
  ways: [from: string, to: string, when: string][];
  time: number;
  groups: GroupRow[];
  count: number;
  group: GroupRecord | null;
  happenings: [time: number, text: Sentence][];
  consequences: [time: number, text: Sentence][];
  why?: undefined;
}

/** By resource: cpu in millicores, memory in bytes, others in thousandths. */
export type SessionAmounts = Record<string, number>;

/** What proportion divides in a round, and what each queue deserves then. */
export interface ProportionRound {
  number: number;
  weights: number;
  before: SessionAmounts;
  after: SessionAmounts;
  queues: [name: string, weight: number, deserved: SessionAmounts, satisfied: boolean][];
  count: number;
}

/** The shares that are known, or change: of queues and of jobs, each with what it has. */
export interface SessionShares {
  queues: Record<string, [allocated: SessionAmounts, share: number]>;
  jobs: Record<string, [allocated: SessionAmounts, share: number, dominant: string]>;
}

/** What belongs to a step of a session beside its sentence. */
export interface SessionDetail {
  round?: ProportionRound;
  heap?: { what: "queue" | "job" | "task"; size: number; items: string[]; popped: string };
  nodes?: {
    counts: [refused: number, short: number, candidates: number];
    refused: [why: string, nodes: string[], count: number][];
    short: string[];
    candidates: [node: string, score: number][];
    parts: Record<string, number[]>;
    chosen: string;
  };
  victims?: {
    what: "preemptable" | "reclaimable";
    candidates: string[];
    count: number;
    answers: [tier: number, plugin: string, victims: string[], count: number][];
    decided: number;
    victims: string[];
  };
  operations?: [how: string, task: string][];
}

export interface SessionStep {
  number: number;
  action: string;
  step: string;
  job: string;
  text: Sentence;
  detail: SessionDetail | null;
  shares: SessionShares;
}

export interface SessionSteps {
  from: number;
  count: number;
  action: string;
  job: string;
  accounts: SessionShares;
  rows: SessionStep[];
}

export interface SessionQueue {
  queue: string;
  deserved: SessionAmounts;
  request: SessionAmounts;
  allocated: [before: SessionAmounts, after: SessionAmounts];
  share: [before: number, after: number];
}

export interface SessionJob {
  job: string;
  share: [before: number, after: number] | null;
  dominant: string;
  placed: number;
  bound: number;
  evicted: number;
  forgotten: number;
  dropped: [action: string, task: string, why: string][];
  invalid: string;
  phase: string;
}

/** A session of kube-batch. */
export interface BelievedNode {
  node: string;
  unseen: string[];
  gone: string[];
  assumed: string[];
  believed: Record<string, number>;
  true: Record<string, number>;
}

export interface SchedulerLane {
  scheduler: string;
  asOf: number;
  deciding: number | null;
  pod: string;
  until: number | null;
  pending: number;
  watchDelay: number;
  runs: string; // what it runs: a release of kube-scheduler, or the name of a custom scheduler
  unheard: number;
  inFlight: { pod: string; node: string; decided: number; lands: number | null }[];
  inFlightCount: number;
  nodes: BelievedNode[];
  nodesCount: number;
}

export interface ViewOutcome {
  scheduler: string;
  pod: string;
  node: string;
  decided: number;
  known: number;
  noticed: string;
  unseen: string[];
  message: string;
  reason: string;
}

/** A node whose room may be given away twice; free below 0: it is, once all are bound. */
export interface ViewWindow {
  node: string;
  promised: [pod: string, scheduler: string][];
  unaware: string[];
  free: Record<string, number>;
}

/** The pods of a workload from a moment on, until the next one. */
export type AvailableMoment = [at: number, desired: number, ready: number, pending: number, terminating: number];

/** A workload over virtual time; `kind` and `key` are "" for the pods without a controller. */
export interface Available {
  kind: string;
  key: string;
  moments: AvailableMoment[];
  completeAt: number | null;
  fewestReady: number;
  fewestAt: number;
  mostReady: number;
  mostPending: number;
  below: number;
  belowFrom: number | null;
  belowUntil: number | null;
  longest: number;
  longestFrom: number | null;
  evicted: number;
  refused: number;
  preempted: number;
}

/** The workloads over virtual time, as far as `known` cycles reach. */
export interface OverTime {
  known: number;
  until: number;
  calmAt: number;
  leftOut: number;
  total: Available;
  workloads: Available[];
}

/** The views of several schedulers, where they differ from what the API server has. */
export interface ViewsPart {
  scheduler: string;
  asOf: number;
  began: number;
  decided: number;
  lands: number | null;
  placements: [pod: string, node: string][];
  placementsCount: number;
  lanes: SchedulerLane[];
  outcomes: ViewOutcome[];
  outcomesCount: number;
  windows: ViewWindow[];
  windowsCount: number;
  why?: undefined;
}

export interface SessionPart {
  number: number;
  time: number;
  actions: string[];
  bound: number;
  evicted: number;
  omitted: number;
  rounds: ProportionRound[];
  roundCount: number;
  queues: SessionQueue[];
  queueCount: number;
  jobs: SessionJob[];
  jobCount: number;
  leftOut: [kind: string, name: string, why: string][];
  leftOutCount: number;
  statements: [action: string, job: string, how: string, operations: number][];
  statementsCount: number;
  groups: [key: string, phase: string, running: number, succeeded: number, failed: number, message: string][];
  groupsCount: number;
  events: ClusterEvent[];
  eventsCount: number;
  steps: SessionSteps;
  why?: undefined;
}

/** Arcs of a task class: the amounts are numbers of pods, the costs those of the CPU-memory cost model. */
export interface NetworkClass {
  name: string;
  first: string;
  request: [cpu: number, memory: number, ephemeral: number];
  tasks: number;
  unscheduled: number;
  refused: Record<string, number>;
  arcs: [to: string, machines: number, flow: number, capacity: number, cost: number, paid: number][];
  arcCount: number;
}

export interface NetworkPhase {
  kind: string;
  cost: number;
  unscheduled: number;
  dropped: string[];
  classes: NetworkClass[];
  classCount: number;
}

/** The flow network of a round of Firmament. */
export interface NetworkPart {
  number: number;
  time: number;
  unscheduledCost: number;
  phases: NetworkPhase[];
  phaseCount: number;
  paths: [
    pod: string,
    phase: number,
    of: string,
    node: string,
    index: number,
    cost: number,
    next: string,
    nextCost: number,
    why: string,
  ][];
  pathCount: number;
  leftAlone: [pod: string, why: string][];
  leftAloneCount: number;
  why?: undefined;
}

/** How a scenario runs the descheduler: seconds between passes, and the most of them. */
export interface Descheduler {
  edition: string;
  interval: number;
  passes: number;
  dryRun: boolean;
  profiles: DeschedulerProfile[];
}

/** A profile as it is written: the plugins that it enables, and arguments by plugin. */
export interface DeschedulerProfile {
  name: string;
  enabled: string[];
  arguments: Record<string, Record<string, any>>;
}

export interface DeschedulerPass {
  number: number;
  time: number;
  cause: string;
  evicted: number;
  refused: number;
  violations: number;
  spread: Record<string, number>;
}

/** The nodes by a utilization strategy: thresholds and usage in percent. */
export interface DeschedulerUtilization {
  low: Record<string, number>;
  high: Record<string, number>;
  nodes: [node: string, category: string, usage: Record<string, number>, cordoned: boolean][];
  counts: Record<string, number>;
}

export interface DeschedulerStrategy {
  name: string;
  profile: string;
  point: string;
  stopped: string;
  candidates: [pod: string, node: string, outcome: string, reason: string][];
  candidateCount: number;
  outcomes: Record<string, number>;
  utilization: DeschedulerUtilization | null;
}

export interface DeschedulerRun {
  time: number;
  edition: string;
  dryRun: boolean;
  nodeCount: number;
  skipped: string;
  strategies: DeschedulerStrategy[];
}

/** The descheduler until a step, the last pass in full; `spread` is null before the end of a run. */
export interface DeschedulerPart {
  passes: DeschedulerPass[];
  passCount: number;
  spread: Record<string, number> | null;
  returns: [workload: string, node: string, times: number][];
  last: DeschedulerRun | null;
  why?: undefined;
}

/** The part of PodGroups where they do nothing. */
export interface NoPodGroups extends Absent {
  time?: number;
  happenings?: [time: number, text: Sentence][];
  consequences?: [time: number, text: Sentence][];
}

/** Something that happens in a step, with the pods that it moves. */
export interface Moment {
  time: number;
  kind: "event" | "attempt" | "consequence";
  what: string;
  text: Sentence;
  moves: [pod: PodIndex, node: number | null][];
  events: number;
  more?: number;
  nodes?: NodeIndex[];
}

/** How a cycle is at the end of a phase, as its difference from the entry before. */
export interface Cut {
  phase: string;
  light: Partial<Light>;
  parts: Record<string, Record<string, unknown>>;
  instead: Record<string, unknown>;
}

/** The heavy parts of a cycle, as far as they were asked for; at the end of a run some fields of Light beside them. */
export interface Parts {
  index: number;
  step: string;
  policy?: Policy;
  predicates?: PredicatesPart;
  priorities?: PrioritiesPart | Absent;
  preemption?: PreemptionPart | Absent;
  queue?: QueuePart;
  hints?: HintsPart | { why: string };
  cache?: CachePart | (CacheSettings & Absent & { gone?: true });
  podgroups?: PodGroupsPart | NoPodGroups;
  session?: SessionPart | Absent;
  views?: ViewsPart | Absent;
  descheduler?: DeschedulerPart | Absent;
  network?: NetworkPart | Absent;
  nodes?: NodeChange[];
  terminating?: TerminatingChange[];
  moments?: Moment[];
  cuts?: Cut[];
  pods?: LaterPods;
  end?: true;
  time?: number;
  story?: Sentence[];
  events?: ClusterEvent[];
  waiting?: Light["waiting"];
}

export interface Found {
  index: number | null;
  why: [place: number, text: string][];
  seen: number;
  over: boolean;
}

/** A step of a priority's arithmetic. */
export interface ScoreStep {
  of: string;
  formula: string;
  numbers: string;
  exact: string;
  value: string;
}

export interface Explanation {
  index: number;
  node: NodeIndex;
  priority: number;
  name: string;
  kind: ScoreRow["kind"];
  weight: number;
  prefers: string;
  map: number | null;
  score: number;
  weighted: number;
  total: number;
  reference: string | null;
  range: [lowest: number, highest: number];
  value: ScoreStep[];
  scale: ScoreStep[];
}

export interface CacheClass {
  hash: string;
  name: string;
  members: number;
  entries: number;
}

export interface CacheClasses {
  from: number;
  count: number;
  rows: CacheClass[];
  without: number;
}

export interface CacheMembers {
  hash: string;
  name: string;
  from: number;
  count: number;
  rows: [pod: string, node: number][];
}

export interface Equivalent {
  equivalent: boolean;
  text: string;
  differences: { field: string; first: string; second: string }[];
  definitions: { controller: boolean; attributes: boolean };
}

/** The map of the cache by node, predicate or class; with a `key` its entries, else the keys. */
export interface CacheMap {
  by: "node" | "predicate" | "class";
  key?: string;
  from: number;
  count: number;
  rows: (CacheKey & CacheEntry)[];
}
export interface CacheKey {
  key: string;
  label: string;
  entries: number;
  fits: number;
  fails: number;
}
export interface CacheEntry {
  node: NodeIndex;
  predicate: string;
  hash: string;
  class: string;
  fit: boolean;
  reasons: string[];
  written: number;
}

export interface Amounts {
  resource: string;
  requested: string;
  free: string;
  shortBy: string;
  allocatable: string;
  used: string;
}

/**
 * Why a predicate fails; `details` and `numbers` only on the node that was asked about. `further`: the scheduler's own
 * answer leaves it out, because an earlier failure ends its evaluation of the node.
 */
export interface Failure {
  predicate: string;
  reasons: string[];
  error: string | null;
  further: boolean;
  details: string[];
  numbers: Amounts[];
}

export interface NodeVerdict {
  node: string;
  fits: boolean;
  failures: Failure[];
}

/** A change that makes a pod fit. */
export interface WhyChange {
  id: string;
  node: string;
  words: string[];
  notes: string[];
  effort: number;
  yaml: string;
  fits: string[];
  fitsCount: number;
  chosen: string | null;
  patches: { action: "patch" | "create" | "delete"; kind: string; name: string }[];
}

export interface WhyAnswer {
  pod: string;
  state: "placed" | "bound" | "pending" | "finished" | "preempted" | "deleted" | "absent" | "other";
  node: string | null;
  asked: string | null;
  index: number;
  step: string;
  before: boolean;
  summary: string;
  story: {
    node: string;
    rival: string;
    leads: { priority: string; weight: number; chosen: number; other: number; points: number }[];
  } | null;
  nodes: NodeVerdict[];
  nodesCount: number;
  groups: { failures: Failure[]; count: number; nodes: string[] }[];
  changes: WhyChange[];
  applicable: boolean;
  recorded: RecordedAnswer | null;
}

/** What a change of Why? did in its copy. */
export interface WhyApplied {
  draft: string;
  url: string;
  way: "manifests" | "operation";
  pod: string;
  index: number;
  node: string | null;
  words: string[];
}

export interface Cost {
  strategy: string;
  cycles: number;
  placed: number;
  evaluations: number;
  hits: number;
  lookups: number;
  writes: number;
  invalidated: number;
  operations: number;
  bytes: number;
  seconds: number;
  microsecondsPerCycle: number;
  firstDifference: number | null;
  placementsDiffering: number;
}

export interface Side {
  cache: CacheMode;
  audit: boolean;
  cycles: number;
  placed: number;
  hits: number;
  evaluations: number;
  stale: number;
  causes: [cause: string, hits: number][];
}

export interface SideDecision {
  pod: string;
  result: string;
  node: string | null;
  message: string;
  nominated: string | null;
  victims: string[];
  stale: (Omit<StaleHit, "node"> & { node: string })[];
}

export interface Divergence {
  here: Side;
  there: Side;
  differing: number;
  first: {
    index: number;
    step: string;
    pod: string;
    here: SideDecision | null;
    there: SideDecision | null;
    words: string;
  } | null;
}

export interface ObjectRecord {
  kind: string;
  name: string;
  index: number;
  step: string;
  yaml: string;
  revisions: string[];
  start: boolean;
}

/** What happens from outside; `after` is the cycle that it lands after. */
export interface Operation {
  id: string;
  action: "create" | "patch" | "delete" | "done";
  kind: string;
  name: string;
  words: string;
  during: boolean;
  pinned: boolean;
  seconds: number | null;
  after: number | null;
  step: string | null;
}

/** The text of a draft with a change to it. */
export interface Rewritten {
  text: string;
  rewritten: boolean;
  words: string;
  step: string | null;
}

export interface Field {
  name: string;
  label: string;
  type: string;
  default: string;
  placeholder: string;
  hint: string;
  section: string;
  suggest: string;
  choices?: [value: string, label: string][];
}

export interface Form {
  kind: string;
  title: string;
  text: string;
  fields: Field[];
}

export interface Known {
  priorityClasses: [name: string, value: number][];
  [what: string]: string[] | [name: string, value: number][];
}

export interface FormDraft {
  documents: string;
  count: number;
  words: string;
  errors: FieldProblem[];
  notes: string[];
  known: Known;
}

export interface GroupDraft {
  documents: string;
  words: string;
  errors: FieldProblem[];
  doubts: FieldProblem[];
  notes: string[];
  defaults: Record<string, string>;
  dialects: [id: string, apiVersion: string, lacks: string[]][];
  priorityClasses: [name: string, value: number][];
  coscheduling: boolean;
  configuration: "Policy" | "KubeSchedulerConfiguration" | "";
}

/** A recipe of a cluster: fields as texts. */
export interface Recipe {
  pools: Record<string, string>[];
  workloads: Record<string, string>[];
  [field: string]: string | Record<string, string>[];
}

export interface Recipes {
  top: Field[];
  pools: Field[];
  workloads: Field[];
  shapes: Record<string, Record<string, string>>;
  recipes: { name: string; title: string; recipe: Recipe }[];
}

export interface ClusterSummary {
  nodes: number;
  cpu: number;
  memory: number;
  gpus: number;
  pods: number;
  wantedCpu: number;
  wantedMemory: number;
  wantedGpus: number;
  workloads: number;
  rows: [workload: string, pods: number][];
  interactive: boolean;
}

export interface GeneratedCluster {
  bundle: string;
  documents: number;
  shown: number;
  summary: ClusterSummary;
  errors: FieldProblem[];
}

export interface BulkPreview {
  nodes: number;
  chosen: number;
  names: string[];
  absent: string[];
  changed: number;
  words: string;
  difference: { name: string; lines: [sign: "-" | "+" | " " | "…", text: string][] }[];
  errors: FieldProblem[];
}

export interface CataloguePredicate {
  key: string;
  place: number | null;
  proposal: number | null;
  runs: number | null;
  alias: string;
  text: string;
  members: string[];
  bundle: string;
  mandatory: boolean;
  default: boolean;
  argument: string;
}

export interface CataloguePriority {
  name: string;
  text: string;
  kind: string;
  steps: string;
  weight: number | null;
}

export interface CataloguePlugin {
  name: string;
  points: string[];
  predicates: string[];
  priority: string;
  differs: string[];
  versions: string[];
  instead: string;
}

/** What a policy can be made of. */
export interface Catalogue {
  predicates: CataloguePredicate[];
  priorities: CataloguePriority[];
  providers: string[];
  versions: [version: string, releases: string][];
  plugins: CataloguePlugin[];
  v1_37: { plugins: PluginRow[]; gates: FeatureGate[] };
  descheduler: DeschedulerPlugin[];
}

export interface DeschedulerPlugin {
  name: string;
  point: string;
  words: string;
  arguments: DeclaredArgument[];
}

/** A field of a plugin's arguments; `only` are the values of others with which it counts, by their paths. */
export interface DeclaredArgument {
  path: string;
  type:
    | "choice"
    | "integer"
    | "flag"
    | "names"
    | "shape"
    | "resources"
    | "constraints"
    | "affinity"
    | "text"
    | "numbers"
    | "percentages"
    | "selector"
    | "rows";
  label?: string;
  fields?: [name: string, type: string][];
  default: any;
  text: string;
  choices: string[];
  least: number;
  most: number;
  only: Record<string, string>;
}

/** A plugin of kube-scheduler v1.37 as it is declared; `weight` is 0 if it does not score. */
export interface PluginRow {
  name: string;
  points: string[];
  weight: number;
  gate: string;
  filters: string;
  prefers: string;
  otherwise: string;
  arguments: DeclaredArgument[];
}

/** `does` is "" for a gate that is not simulated otherwise than by default. */
export interface FeatureGate {
  name: string;
  default: boolean;
  locked: boolean;
  needs: string[];
  does: string;
}

export interface ProfileForm {
  name: string;
  percentage: number | null;
  points: Record<string, string[]>;
  weights: Record<string, number>;
  arguments: Record<string, Record<string, any>>;
}

/** What kube-scheduler v1.37 runs; `default` are its plugins by point, `scheduler` the release that is pinned. */
export interface PluginForm {
  scheduler: string;
  percentage: number | null;
  gates: Record<string, boolean>;
  default: Record<string, string[]>;
  profiles: ProfileForm[];
}

export interface FrameworkProfile {
  name: string;
  points: Record<string, [plugin: string, weight: number][]>;
  written: Record<string, { enabled: string[]; disabled: string[] }>;
  arguments: Record<string, Argument>;
}

/** The profiles of a KubeSchedulerConfiguration. */
export interface Framework {
  version: string;
  points: string[];
  profiles: FrameworkProfile[];
}

export interface PolicyDocument {
  text: string;
  kind: "Policy" | "KubeSchedulerConfiguration" | "";
  errors: Problem[];
  warnings: Problem[];
  profile: Policy | null;
  framework: Framework | null;
  form: PluginForm | null;
  other: { kind: string; text: string; lost: string[]; notes: string[] } | null;
}

/** The revisions of a draft: the newest, that of its text, and that of its title. */
export interface Revision {
  revision: number;
  text: number;
  titled: number;
  title: string;
}

export interface Branch {
  draft: string;
  title: string;
  parent: string;
  step: string;
  words: string[];
  revision: number;
}

export interface BranchList {
  root: { source: string; title: string; url: string } | null;
  branches: Branch[];
}

export interface Standing {
  cycles: number;
  placed: number; // and not being deleted
  pending: number;
  terminating: number;
  stopped: boolean;
}

export interface BranchComparison {
  words: string[];
  here: Standing;
  parent: Standing | null;
  first: { index: number; step: string; words: string } | null;
  elsewhere: number;
  why: string;
}

/** What a branch did to the workloads of its parent, over time and at the end; null and none where no time passes. */
export interface Outcome {
  at: number;
  until: number | null;
  calm: number | null;
  total: { evicted: number; refused: number; preempted: number } | null;
  workloads: { kind: string; key: string; branch: Available | null; parent: Available | null }[];
  leftOut: number;
  nodes: [name: string, before: number, after: number][];
  pending: { kind: string; key: string; pods: number; more: number; message: string }[];
}

export interface Run {
  run: string;
  scenario: string;
  title: string;
  state: "queued" | "running" | "cancelling" | "done" | "cancelled" | "failed";
  position: number | null;
  done: number;
  total: number | null;
  placed: number;
  pending: number;
  unschedulable: number;
  cache: {
    hits: number;
    evaluations: number;
    invalidated: number;
    stale: number;
    hitRate: number;
    causes: [cause: string, hits: number][];
  } | null;
  seconds: number;
  peakMib: number;
  error: string | null;
  mine: boolean;
  created: string;
  started: string | null;
  finished: string | null;
  expires: string;
}

/** How far the server is with a text, or the page with sending it. */
export interface Report {
  stage: string;
  done: number;
  of: number;
}

/** By command: what it is asked, and what it answers. */
/** A private link, as its creator sees it. */
export interface PrivateLink {
  link: string;
  url: string;
  title: string;
  created: string;
  expires: string;
  fixed: boolean;
  bytes: number;
}

/** What a cycle decided, as a private link keeps it. */
export interface Outcome {
  pod: string;
  result: string;
  node: string | null;
  nominated: string | null;
  victims: string[];
  further: [pod: string, node: string][];
}

/** Whether the engine still decides what a private link pinned, and where it first does not. */
export interface LinkCheck {
  same: boolean;
  compared: number;
  differing: number;
  first: { index: number; then: Outcome | null; now: Outcome | null } | null;
  pinned: { engine: string; scheduler: string; policy: Policy; cycles: number; ended: boolean; digest: string };
  current: { engine: string; scheduler: string; policy: Policy };
  changed: string[];
}

/** One side of a comparison, as it was asked for. */
export interface ComparedSide {
  source: Source;
  title: string;
  scheduler: string | null;
  /** Of a stored comparison: the release that answers the side. */
  release?: string;
}

/** Where two sources differ; its page asks for it over HTTP. */
export interface Comparison {
  left: ComparedSide;
  right: ComparedSide;
  same: boolean;
  first: { index: number; pod: string; rule: string | null; history: string[]; details: string[] } | null;
  differing: number;
  placements: { pod: string; left: string; right: string }[];
  metrics: { left: Record<string, any>; right: Record<string, any> };
  alignment: [left: number, right: number, count: number][] | null;
  differences: [left: number, right: number, pod: string, one: string, other: string][];
  moreDifferences: boolean;
  workloads: object[];
  workloadCount: number;
}

/** A comment; its text is Markdown without HTML, "" once it was removed. */
export interface Comment {
  id: string;
  url: string;
  parent: string | null;
  text: string;
  name: string;
  mine: boolean;
  removed: boolean;
  created: string;
  edited: string | null;
}

/** The first comment of a thread, with where it is anchored; `about`: what the step decided when it was written. */
export interface Thread extends Comment {
  step: string;
  node: string | null;
  pod: string | null;
  rule: string | null;
  resolved: boolean;
  replies: Comment[];
  about: { index: number; step: string; pod: string | null; result: string | null; node: string | null } | null;
}

/** Where the leader of a room is. */
export interface Position {
  seq: number;
  step: string;
  at?: number;
  phase?: string;
  tab?: string;
  view?: string;
  node?: string;
  pod?: string;
  cell?: string | string[];
  spot?: string | string[];
}

export type QuestionKind = "node" | "fits" | "victims" | "choice";
export type Answer = string | boolean | string[] | number;

/** What a room is asked to predict; with its tally and answer once it is revealed. */
export interface Question {
  number: number;
  kind: QuestionKind;
  text: string;
  choices: string[] | null;
  index?: number;
  step?: string;
  pod?: string;
  hides?: number | null; // the first cycle that is hidden until it is revealed
  ballot?: [name: string, node?: string][] | null; // nodes, or pods with their nodes; null: too many
  revealed: boolean;
  votes: number;
  tally?: [answer: Answer, votes: number][];
  others?: number;
  round?: 1 | 2; // of voting
  before?: { votes: number; tally: [answer: Answer, votes: number][]; others: number }; // the first round, once revealed
  why?: string[]; // the cycle's story, once revealed
  answer?: Answer | null;
  right?: number | null;
}

export type Role = "lead" | "watch";

/** What joining a room answers. */
export interface Joined {
  role: Role;
  person: string;
  name: string;
  owner: boolean;
  scenario: string;
  title: string;
  code: string; // six letters, to join by
  position: Position;
  watching: number;
  question: Question | null;
}

export interface Commands {
  "session.hello": { asks: {}; answers: { version: string; limits: Record<string, number> } };
  "request.cancel": { asks: { request: number }; answers: {} };
  "scenario.open": { asks: { source: Source; step?: string }; answers: Opened };
  "scenario.recorded": { asks: { source: Source }; answers: { answers: RecordedAnswer[]; more: number } };
  "step.locate": { asks: { source: Source; step: string }; answers: { index: number } };
  "timeline.get": { asks: { source: Source; from: number; to: number }; answers: { from: number; marks: Marks } };
  "cycles.window": { asks: { source: Source; from: number; count: number; pods?: number }; answers: Window };
  "cycle.get": { asks: { source: Source; step: string; parts: string[]; pods?: number }; answers: Parts };
  "cycle.find": {
    asks: {
      source: Source;
      from: number;
      direction: "forward" | "backward";
      conditions: string[];
      to?: number;
      met?: string[];
    };
    answers: Found;
  };
  "cycle.cancel": { asks: {}; answers: {} };
  "preemption.candidates": {
    asks: { source: Source; cycle: number; from: number; count: number };
    answers: Candidates;
  };
  "preemption.run": { asks: { source: Source; cycle: number; node: NodeIndex }; answers: DryRun };
  "scores.explain": {
    asks: { source: Source; cycle: number; node: NodeIndex; priority: number };
    answers: Explanation;
  };
  "availability.get": {
    asks: { source: Source };
    answers: OverTime | null;
  };
  "events.list": {
    asks: { source: Source; to: number; count: number };
    answers: { events: [index: number, ...ClusterEvent][]; more: boolean };
  };
  "kubebatch.steps": {
    asks: { source: Source; cycle: number; from: number; count: number; action: string; job: string };
    answers: SessionSteps & { index: number };
  };
  "podgroup.get": {
    asks: { source: Source; cycle: number; group: string };
    answers: GroupRecord & { index: number };
  };
  "cache.classes": {
    asks: { source: Source; cycle: number; from: number; count: number; find?: string; sort?: string };
    answers: CacheClasses;
  };
  "cache.members": {
    asks: { source: Source; cycle: number; hash: string; from: number; count: number };
    answers: CacheMembers;
  };
  "cache.equivalent": { asks: { source: Source; cycle: number; pods: string[] }; answers: Equivalent };
  "cache.map": {
    asks: {
      by: string;
      key?: string;
      source: Source;
      cycle: number;
      from: number;
      count: number;
      find?: string;
      sort?: string;
    };
    answers: CacheMap;
  };
  "why.ask": { asks: { source: Source; pod: string; node?: string; step: string }; answers: WhyAnswer };
  "why.apply": {
    asks: { source: Source; pod: string; node?: string; step: string; change: string };
    answers: WhyApplied;
  };
  "worth.cost": { asks: { source: Source }; answers: { rows: Cost[] } };
  "worth.other": {
    asks: { source: Source; cache: string; equivalenceClass?: string; staleWrites?: string; audit?: string };
    answers: Divergence;
  };
  "worth.copy": {
    asks: { source: Source; cache: string; equivalenceClass?: string; staleWrites?: string; audit?: string };
    answers: { draft: string; url: string };
  };
  "worth.cancel": { asks: {}; answers: {} };
  "bundle.check": {
    asks: { text: string };
    answers: { errors: Problem[]; warnings: Problem[]; summary: Record<string, number> };
  };
  "bundle.configure": {
    asks: { text: string; what: string; key: string; value: string; step?: string };
    answers: { text: string; rewritten: boolean };
  };
  "object.get": { asks: { source: Source; target: string; step: string }; answers: ObjectRecord };
  "object.revise": {
    asks: { object: string; what: string; key?: string; value?: string };
    answers: { object: string };
  };
  "objects.list": {
    asks: { source: Source; step: string };
    answers: { index: number; step: string; kinds: [kind: string, count: number, names: string[]][] };
  };
  "operations.list": { asks: { source: Source }; answers: { count: number; operations: Operation[] } };
  "operations.outcome": {
    asks: { source: Source; id: string };
    answers: { id: string; effect: boolean; text: string };
  };
  "operations.get": { asks: { source: Source; id: string }; answers: { id: string; yaml: string } };
  "bundle.operate": {
    asks: {
      text: string;
      action: string;
      step?: string;
      during?: string;
      target?: string;
      object?: string;
      base?: string;
      id?: string;
      landed?: string;
      seconds?: string;
    };
    answers: Rewritten & { id: string };
  };
  "bundle.amend": {
    asks: { text: string; target: string; object?: string; base?: string };
    answers: { text: string; rewritten: boolean; words: string };
  };
  "group.draft": { asks: { source: Source; fields: Record<string, string>; step?: string }; answers: GroupDraft };
  "bundle.add": { asks: { text: string; documents: string; step?: string }; answers: Rewritten };
  "forms.list": { asks: {}; answers: { forms: Form[] } };
  "form.draft": {
    asks: { source: Source; kind: string; fields: Record<string, string>; step?: string };
    answers: FormDraft;
  };
  "cluster.recipes": { asks: {}; answers: Recipes };
  "cluster.generate": { asks: { recipe: Recipe; whole?: string }; answers: GeneratedCluster };
  "cluster.create": {
    asks: { recipe: Recipe; title?: string };
    answers: { draft: string; url: string; summary: ClusterSummary };
  };
  "nodes.preview": {
    asks: { source: Source; by: string; which: string; what: string; key?: string; value?: string; step?: string };
    answers: BulkPreview;
  };
  "bundle.bulk": {
    asks: { text: string; by: string; which: string; what: string; key?: string; value?: string; step?: string };
    answers: Rewritten;
  };
  "verb.preview": {
    asks: {
      source: Source;
      verb: string;
      targets: string;
      value?: string;
      step: string;
      seconds?: string;
      at?: string;
      during?: string;
    };
    answers: { sentence: string; operations: number; errors: FieldProblem[] };
  };
  "bundle.verb": {
    asks: {
      text: string;
      verb: string;
      targets: string;
      value?: string;
      step?: string;
      seconds?: string;
      at?: string;
      during?: string;
    };
    answers: Rewritten;
  };
  "policy.catalogue": { asks: {}; answers: Catalogue };
  "policy.text": { asks: { source: Source; step?: string }; answers: PolicyDocument };
  "policy.check": {
    asks: { text: string; order?: string; quirks?: string; scheduler?: string; gates?: string };
    answers: PolicyDocument;
  };
  "policy.change": {
    asks: { text: string; what: string; key: string; value: string; scheduler?: string; gates?: string };
    answers: { text: string };
  };
  "bundle.open": {
    asks: { text: string; title?: string; release?: string };
    answers: { draft: string; url: string; warnings: Problem[]; summary: Record<string, number> };
  };
  "draft.save": {
    asks: { draft: string; text?: string; title?: string; base?: number };
    answers: { revision: number };
  };
  "draft.watch": { asks: { draft: string }; answers: Revision };
  "draft.branch": {
    asks: { draft: string; text: string; title?: string };
    answers: { draft: string; url: string; title: string };
  };
  "draft.share": {
    asks: { draft: string; step?: string; tab?: string; base?: number };
    answers: { scenario: string; url: string; deleteToken: string };
  };
  "draft.delete": { asks: { draft: string; base?: number }; answers: {} };
  "scenario.fork": { asks: { source: Source }; answers: { draft: string; url: string } };
  "branch.create": {
    asks: { source: Source; step?: string; title?: string };
    answers: { draft: string; url: string; title: string };
  };
  "branch.try": {
    asks: {
      source: Source;
      verb: string;
      targets: string;
      value?: string;
      step?: string;
      seconds?: string;
      at?: string;
      during?: string;
      title?: string;
    };
    answers: { draft: string; url: string; title: string };
  };
  "branch.list": { asks: { source: Source }; answers: BranchList };
  "branch.compare": { asks: { draft: string }; answers: BranchComparison };
  "branch.outcome": { asks: { draft: string }; answers: BranchComparison & { overTime: Outcome | null } };
  "run.start": {
    asks: { source: Source; config?: { policy?: unknown; settings?: unknown } };
    answers: { run: string; url: string };
  };
  "run.watch": { asks: { run: string }; answers: Run };
  "run.unwatch": { asks: { run: string }; answers: {} };
  "run.cancel": { asks: { run: string }; answers: Run };
  "compare.get": {
    asks: { left: Source; right: Source; leftScheduler?: string; rightScheduler?: string };
    answers: Comparison;
  };
  "optimum.get": {
    asks: { source: Source; step?: number; objectives?: string[]; seconds?: number; move?: boolean };
    answers: {};
  };
  "comment.watch": { asks: { source: Source }; answers: { scenario: string; threads: Thread[] } };
  "comment.write": {
    asks: {
      source: Source;
      step?: string;
      node?: string;
      pod?: string;
      rule?: string;
      text: string;
      name?: string;
      parent?: string;
    };
    answers: Comment & Partial<Thread>;
  };
  "comment.edit": { asks: { source: Source; comment: string; text: string }; answers: Comment };
  "comment.remove": { asks: { source: Source; comment: string }; answers: {} };
  "comment.resolve": { asks: { source: Source; comment: string; open?: boolean }; answers: { resolved: boolean } };
  "link.create": {
    asks: { source: Source; title?: string; query?: string; days?: number };
    answers: PrivateLink;
  };
  "link.list": { asks: {}; answers: { links: PrivateLink[] } };
  "link.rename": { asks: { link: string; title: string }; answers: { title: string } };
  "link.revoke": { asks: { link: string }; answers: {} };
  "link.check": { asks: { link: string }; answers: LinkCheck };
  "room.join": { asks: { room: string; lead_token?: string; name?: string }; answers: Joined };
  "room.leave": { asks: {}; answers: {} };
  "room.move": {
    asks: {
      step: string;
      at?: number;
      phase?: string;
      tab?: string;
      view?: string;
      node?: string;
      pod?: string;
      cell?: string | string[];
      spot?: string | string[];
    };
    answers: { seq: number };
  };
  "room.ask": {
    asks: { kind: QuestionKind; text?: string; choices?: string[]; right?: number; step?: string };
    answers: Question;
  };
  "room.vote": { asks: { answer?: Answer }; answers: { number: number } };
  "room.reveal": { asks: {}; answers: Question };
  "room.travel": { asks: { scenario: string; step?: string }; answers: { scenario: string } };
  "room.again": { asks: {}; answers: Question };
  "room.close": { asks: {}; answers: {} };
  "room.people": { asks: {}; answers: { watching: number; people: [person: string, name: string][] } };
  "room.hand": { asks: { to: string }; answers: { role: Role } };
  "room.take": { asks: {}; answers: { role: Role } };
}

/** By name: what the server pushes unasked. */
export interface Pushed {
  "timeline.grew": {
    source: Source;
    cycles: number;
    complete: boolean;
    end: boolean;
    stopped: string | null;
    from: number;
    marks: Marks;
  };
  "request.progress": Report & { request: number };
  "run.changed": Run;
  "draft.changed": Revision & { draft: string };
  "draft.gone": { draft: string };
  "cycle.searched": { source: Source; request: number; index: number };
  "worth.progress": { source: Source; done: number; total: number; strategy: string };
  "comment.changed": { scenario: string; comment: Comment & Partial<Thread> };
  "room.position": Position;
  "room.question": Question | null;
  "room.tally": Partial<Question> & { number: number; votes: number; revealed: boolean };
  "room.people": { watching: number };
  "room.role": { role: Role };
  "room.travelled": { scenario: string };
  "room.ended": {};
}

/** What an `error` frame carries, by its code beside the message. */
export interface Refusal {
  code: string;
  message: string;
  errors?: Problem[];
  warnings?: Problem[];
  field?: string;
  part?: string;
  retryAfter?: number;
  used?: number;
  allowed?: number;
  needed?: number;
  largest?: { kind: "draft" | "link" | "run"; id: string; title: string; bytes: number }[];
  revision?: number;
  text?: number;
  titled?: number;
  title?: string;
}
