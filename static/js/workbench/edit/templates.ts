// What a new object begins with.

export const GROUP = "PodGroup"; // as it is called in "Create…" and in the address of a copy

export const TEMPLATES = {
  Node: `apiVersion: v1
kind: Node
metadata:
  name: new-node
status:
  allocatable:
    cpu: "4"
    memory: 8Gi
    pods: "110"
`,
  Pod: `apiVersion: v1
kind: Pod
metadata:
  name: new-pod
  namespace: default
spec:
  containers:
  - name: main
    resources:
      requests:
        cpu: 100m
        memory: 128Mi
`,
  PersistentVolume: `apiVersion: v1
kind: PersistentVolume
metadata:
  name: new-volume
spec:
  capacity:
    storage: 10Gi
  accessModes: [ReadWriteOnce]
  storageClassName: standard
  gcePersistentDisk:
    pdName: new-disk
`,
  PersistentVolumeClaim: `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: new-claim
  namespace: default
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: standard
  resources:
    requests:
      storage: 10Gi
`,
  Service: `apiVersion: v1
kind: Service
metadata:
  name: new-service
  namespace: default
spec:
  selector:
    app: web
  ports:
  - port: 80
`,
  Policy: `apiVersion: v1
kind: Policy
predicates:
- name: GeneralPredicates
- name: PodToleratesNodeTaints
priorities:
- name: LeastRequestedPriority
  weight: 1
`,
  SimulationSettings: `apiVersion: podstep/v1
kind: SimulationSettings
cache: sound
`,
};

/** The template of a kind, or of a node where there is none. */
export const templateOf = (kind: string) => TEMPLATES[kind as keyof typeof TEMPLATES] ?? TEMPLATES.Node;
