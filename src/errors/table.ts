/**
 * Every error that sless tells somebody: HTTP status, consequence for a reconciler, what happened, what to do.
 * `{placeholders}` are filled from the error's details; a remedy begins with a verb.
 *
 * consequence: `stalled` only a change of the object mends it (no retry); `waiting` somebody must act, look again
 * later without alarm; `retry` the world may mend it by itself (back-off).
 */
export const ERRORS = {
  // requests
  not_found: {
    status: 404,
    consequence: "stalled",
    happened: "{what} does not exist.",
    remedy: "Check the name and the namespace; `sless get` lists what is there.",
  },
  invalid_request: {
    status: 400,
    consequence: "stalled",
    happened: "The request is not valid: {cause}.",
    remedy: "Correct it and send the request again.",
  },
  conflict: {
    status: 409,
    consequence: "retry",
    happened: "{what} was changed by somebody else meanwhile.",
    remedy: "Read it again and repeat the change on what is there now.",
  },
  already_exists: {
    status: 409,
    consequence: "stalled",
    happened: "{what} exists already.",
    remedy: "Choose another name, or change the existing one.",
  },
  being_deleted: {
    status: 409,
    consequence: "retry",
    happened: "{what} is being deleted.",
    remedy: "Send it again once it is gone; `sless get` shows what is left.",
  },
  namespace_not_ours: {
    status: 409,
    consequence: "waiting",
    happened: "Namespace {namespace} exists and was not made by sless, so nothing is run there.",
    remedy:
      "Remove it, or, if sless may have it, run `kubectl label namespace {namespace} app.kubernetes.io/managed-by=sless sless.kube5s.ru/tenant={tenant}`.",
  },
  owned_by_repository: {
    status: 409,
    consequence: "stalled",
    happened: "{what} is owned by repository {repository} ({path}).",
    remedy: "Change it there and push; or remove the file and create it anew here.",
  },
  repository_pinned: {
    status: 409,
    consequence: "stalled",
    happened: "{what} is the one that this server was started with: {why}.",
    remedy: "Start `sless dev` anew with other options, or suspend the repository.",
  },
  namespace_terminating: {
    status: 409,
    consequence: "retry",
    happened: "Namespace {namespace}, where it runs, is being deleted: {left}.",
    remedy:
      "Remove what is left there, or have whoever set the finalizers do so, where that takes long; it starts by itself in a new one once this one is gone.",
  },
  namespace_missing: {
    status: 404,
    consequence: "stalled",
    happened: "Namespace {namespace} does not exist.",
    remedy: "Make it with `POST /v1/namespaces/{namespace}/ensure`, or check its name.",
  },
  history_missing: {
    status: 501,
    consequence: "stalled",
    happened: "This server keeps no history of calls.",
    remedy: "Read `sless logs {name}`, which has the output of calls.",
  },
  forbidden: {
    status: 403,
    consequence: "stalled",
    happened: "{what} is not yours.",
    remedy: "Use your own namespace.",
  },
  unauthenticated: {
    status: 401,
    consequence: "stalled",
    happened: "The request was not let in: {cause}.",
    remedy:
      "Send `Authorization: Bearer <token>`; the CLI takes it from SLESS_API_TOKEN, and `kubectl create token` makes one for a service account.",
  },
  hook_refused: {
    status: 401,
    consequence: "stalled",
    happened: "No webhook takes this delivery: there is none at this address, or its secret is another one.",
    remedy:
      "Check the address, that the repository names a `webhookSecretRef`, and that the key `token` of that Secret is what the forge signs with; the log of sless says which.",
  },
  hooks_busy: {
    status: 503,
    consequence: "retry",
    happened: "Too many deliveries of webhooks are under way.",
    remedy: "Send it again in a moment; what was pushed is found with the next look, too.",
  },
  hooks_unavailable: {
    status: 503,
    consequence: "retry",
    happened: "Deliveries of webhooks cannot be checked now.",
    remedy: "Send it again in a moment; the log of sless says why.",
  },
  access_denied: {
    status: 403,
    consequence: "stalled",
    happened: "{subject} may not {action}.",
    remedy: "Add a binding of a role that allows it, or have it added: `{grant}`.",
  },
  foreign_host: {
    status: 421,
    consequence: "stalled",
    happened: "The Host header {host} is not an address of this server.",
    remedy: "Call it as {expected}.",
  },
  foreign_origin: {
    status: 403,
    consequence: "stalled",
    happened: "A page of {origin} may not call this server.",
    remedy: "Call it from the command line, or from a page of its own address.",
  },
  too_large: {
    status: 413,
    consequence: "stalled",
    happened: "{what} is larger than {limit}.",
    remedy: "Send less; sources belong below {limit}.",
  },
  server_unreachable: {
    status: 502,
    consequence: "retry",
    happened: "No sless server answers at {endpoint}: {cause}.",
    remedy: "Run `sless dev` to start one, or name another with --endpoint.",
  },
  server_silent: {
    status: 504,
    consequence: "retry",
    happened: "What listens at {endpoint} gave no answer within {seconds} s.",
    remedy:
      "Look at the log of the server, which may be overloaded, or name another with --endpoint; what was asked for may still be done.",
  },
  server_foreign: {
    status: 502,
    consequence: "retry",
    happened: "What answers at {endpoint} is not sless, or something stands before it: {cause}.",
    remedy: "Name the address of a sless server with --endpoint or SLESS_ENDPOINT; `sless dev` prints that of its own.",
  },
  answer_cut: {
    status: 502,
    consequence: "retry",
    happened: "The answer of {endpoint} broke off: {cause}.",
    remedy: "Try again; the log of the server, or of the function that was called, may tell why.",
  },
  method_not_allowed: {
    status: 405,
    consequence: "stalled",
    happened: "{method} is not possible on {path}.",
    remedy: "Use {allowed}.",
  },
  internal: {
    status: 500,
    consequence: "retry",
    happened: "sless failed: {cause}.",
    remedy: "Look into the server's log for the request id, and report it.",
  },
  // gateway
  no_such_function: {
    status: 404,
    consequence: "stalled",
    happened: "No function or service {namespace}/{name} is reachable.",
    remedy: "Check the address; a function needs an enabled http trigger. `sless get functions` lists what is there.",
  },
  scaled_to_zero: {
    status: 503,
    consequence: "waiting",
    happened: "{namespace}/{name} is scaled to zero.",
    remedy: "Set spec.replicas to 1 or more, or enable one of its triggers.",
  },
  function_not_ready: {
    status: 503,
    consequence: "retry",
    happened: "{namespace}/{name} has no replica that serves yet.",
    remedy: "Try again in a moment; `sless describe {kind} {name}` tells what it waits for.",
  },
  function_timeout: {
    status: 504,
    consequence: "retry",
    happened: "{namespace}/{name} did not answer within {seconds} s; {component} ended the call.",
    remedy: "Make the handler faster, or raise spec.timeoutSec.",
  },
  replica_replaced: {
    status: 503,
    consequence: "retry",
    happened: "The replica was replaced because another call of {namespace}/{name} blocked it beyond its time limit.",
    remedy: "Try again; mend the handler that blocks.",
  },
  connection_refused: {
    status: 502,
    consequence: "retry",
    happened: "{namespace}/{name} closed the connection before it answered.",
    remedy: "Read `sless logs {name}`: its process may have crashed.",
  },
  response_invalid: {
    status: 502,
    consequence: "retry",
    happened: "{namespace}/{name} answered something that is no valid HTTP response: {cause}.",
    remedy: "Correct the status and the headers that its handler returns.",
  },
  gateway_unreachable: {
    status: 503,
    consequence: "retry",
    happened: "The gateway does not take the call: {cause}.",
    remedy: "Try again in a moment; `kubectl get pods` in the namespace of sless shows whether its gateway runs.",
  },
  controller_unreachable: {
    status: 503,
    consequence: "retry",
    happened: "The controller does not answer: {cause}.",
    remedy:
      "Try again in a moment; `kubectl get pods` in the namespace of sless shows whether its controller runs, `kubectl get lease sless-controller` which one leads.",
  },
  capacity_exceeded: {
    status: 503,
    consequence: "retry",
    happened: "{namespace}/{name} has too many calls in flight.",
    remedy: "Try again later, or raise spec.replicas.",
  },
  connections_busy: {
    status: 503,
    consequence: "retry",
    happened: "Calls are in flight on as many connections as this process of sless takes.",
    remedy: "Try again in a moment, or run more replicas of it.",
  },
  // repository
  repository_unreachable: {
    status: 502,
    consequence: "retry",
    happened: "{url} cannot be read: {cause}.",
    remedy: "Check that the repository is there and readable; sless tries again by itself.",
  },
  repository_unsupported: {
    status: 422,
    consequence: "stalled",
    happened: "{url} cannot be read here: {cause}.",
    remedy: "Install git (`apt-get install git`) and restart, or use a plain repository.",
  },
  repository_url_invalid: {
    status: 422,
    consequence: "stalled",
    happened: "spec.url {url} is no Git address: {cause}.",
    remedy: "Correct spec.url.",
  },
  ref_not_found: {
    status: 404,
    consequence: "retry",
    happened: "{ref} does not exist in {url}.",
    remedy: "Push it, or correct spec.ref; what runs goes on.",
  },
  repository_empty: {
    status: 404,
    consequence: "waiting",
    happened: "{url} has no commit yet.",
    remedy: "Push a first commit.",
  },
  path_not_found: {
    status: 404,
    consequence: "retry",
    happened: "The folder {path} does not exist at {revision}.",
    remedy: "Push it, or correct spec.path; what runs goes on.",
  },
  repository_too_large: {
    status: 413,
    consequence: "waiting",
    happened: "The repository holds more than {limit}.",
    remedy: "Set spec.path to the folder that holds the functions, or remove what is not needed.",
  },
  semver_invalid: {
    status: 422,
    consequence: "stalled",
    happened: "spec.ref.semver {range} is no range of versions.",
    remedy: 'Write for example "1.x" or ">=1.2.0 <2.0.0".',
  },
  credentials_refused: {
    status: 502,
    consequence: "retry",
    happened: "{url} refuses access: {cause}.",
    remedy: "Check the secret that spec.secretRef names: username and password, or token; sless tries again by itself.",
  },
  credentials_missing: {
    status: 422,
    consequence: "retry",
    happened: "Secret {secret} opens no repository.",
    remedy: "Set its keys username and password, or token; ca.crt alone will do for a public repository.",
  },
  address_refused: {
    status: 422,
    consequence: "retry",
    happened: "{host} is at a loopback, link-local or private address, from which this server follows no repository.",
    remedy: "Use a public address, or let whoever runs the server name the network in SLESS_GIT_NETWORKS.",
  },
  object_missing: {
    status: 502,
    consequence: "retry",
    happened: "Git object {id} of {url} is missing or corrupt.",
    remedy: "Run `git fsck` there; what runs goes on.",
  },
  file_changed: {
    status: 409,
    consequence: "retry",
    happened: "{path} changed while it was read.",
    remedy: "Look again in a moment: its new content is read next.",
  },
  // manifests and sources
  yaml_syntax: {
    status: 400,
    consequence: "stalled",
    happened: "The YAML does not parse: {cause}.",
    remedy: "Correct the line shown.",
  },
  yaml_ambiguous: {
    status: 400,
    consequence: "stalled",
    happened: "{value} is not what it looks like: {cause}.",
    remedy: "Write {quoted}.",
  },
  manifest_too_large: {
    status: 400,
    consequence: "stalled",
    happened: "The manifest is larger than {limit}.",
    remedy: "Split it.",
  },
  manifest_invalid: { status: 400, consequence: "stalled", happened: "{cause}.", remedy: "Correct the line shown." },
  kind_unknown: {
    status: 400,
    consequence: "stalled",
    happened: "{kind} is no kind of this group.",
    remedy: "Use one of {known}.",
  },
  kind_not_allowed: {
    status: 400,
    consequence: "stalled",
    happened: "A {kind} may not stand in a repository.",
    remedy: "Create it with the API or `sless`.",
  },
  namespace_foreign: {
    status: 400,
    consequence: "stalled",
    happened: "namespace {namespace} is not the repository's ({expected}).",
    remedy: "Remove metadata.namespace.",
  },
  name_taken: {
    status: 400,
    consequence: "stalled",
    happened: "{what} is defined in {files}.",
    remedy: "Rename one of them.",
  },
  no_longer_a_manifest: {
    status: 400,
    consequence: "stalled",
    happened: "The file held {objects} and no longer looks like a manifest.",
    remedy: "Restore apiVersion, or delete the file.",
  },
  source_too_large: {
    status: 400,
    consequence: "stalled",
    happened: "The source of {what} has {actual}.",
    remedy: "Name what is not needed in .slessignore.",
  },
  source_escapes: {
    status: 400,
    consequence: "stalled",
    happened: "{path} points outside the source.",
    remedy: "Replace the link by the file.",
  },
  source_unsupported: {
    status: 400,
    consequence: "stalled",
    happened: "{path} is {what}, which cannot be deployed.",
    remedy: "Commit the files themselves.",
  },
  source_name_refused: {
    status: 400,
    consequence: "stalled",
    happened: "{path} {cause}, which cannot be deployed.",
    remedy: "Rename it, or name it in .slessignore.",
  },
  archive_invalid: {
    status: 400,
    consequence: "stalled",
    happened: "The archive cannot be unpacked: {cause}.",
    remedy: "Make it anew without these entries.",
  },
  source_missing: {
    status: 400,
    consequence: "stalled",
    happened: "{cause}.",
    remedy: "Add it, or correct the manifest.",
  },
  not_adopted: {
    status: 409,
    consequence: "stalled",
    happened: "{what} exists and nobody owns it, but it differs ({cause}).",
    remedy: "Add the annotation sless.kube5s.ru/adopt: enabled to take it over.",
  },
  owned_elsewhere: {
    status: 409,
    consequence: "stalled",
    happened: "{what} belongs to another repository ({owner}).",
    remedy: "Rename it, or remove it there first.",
  },
  repository_suspended: {
    status: 409,
    consequence: "stalled",
    happened: "Repository {repository} is suspended.",
    remedy: "Run `sless resume {repository}`, or set its spec.suspend to false; then it is synced.",
  },
  deletions_held: {
    status: 409,
    consequence: "waiting",
    happened: "{count} deletions wait for an approval.",
    remedy:
      "Read them with `sless describe repository {repository}`, then run `sless approve {repository}` or restore the files.",
  },
  // builds and replicas
  toolchain_missing: {
    status: 422,
    consequence: "retry",
    happened: "{runtime} needs {tool}, which is not on this machine.",
    remedy: "Install it: {install}",
  },
  dependencies_failed: {
    status: 422,
    consequence: "retry",
    happened: "Installing the dependencies failed: {cause}.",
    remedy: "Read `sless logs --build {name}`; correct {file}.",
  },
  dependencies_unreadable: {
    status: 422,
    consequence: "stalled",
    happened: "{file} cannot be read: {cause}.",
    remedy: "Correct it; what installs the dependencies refuses it.",
  },
  build_failed: {
    status: 422,
    consequence: "retry",
    happened: "The build failed: {cause}.",
    remedy: "Read `sless logs --build {name}` and correct the code.",
  },
  build_timeout: {
    status: 422,
    consequence: "retry",
    happened: "The build took longer than {seconds} s and was ended.",
    remedy: "Check that the registries of its dependencies answer.",
  },
  builder_missing: {
    status: 422,
    consequence: "retry",
    happened: "It needs a build, and no builder of images is set up here: {reason}.",
    remedy: "Set BUILDER_IMAGE and start sless anew, or leave out what needs a build.",
  },
  builder_failed: {
    status: 422,
    consequence: "retry",
    happened: "What builds its image failed: {cause}.",
    remedy: "Read `sless logs --build {name}`; it is tried again by itself.",
  },
  base_image_missing: {
    status: 422,
    consequence: "retry",
    happened: "The image {image}, on which functions of {runtime} run, is not there: {cause}.",
    remedy:
      "Push it to its registry, name a registry that has it (REGISTRY_MIRROR), or correct `baseImage` and `runImage` of the runtime.",
  },
  registry_unavailable: {
    status: 502,
    consequence: "retry",
    happened: "The registry {host} does not do its part: {cause}.",
    remedy:
      "Check that it is up and has space (REGISTRY_HOST; for base images REGISTRY_MIRROR); it is tried again by itself.",
  },
  registry_denied: {
    status: 502,
    consequence: "retry",
    happened: "The registry {host} refuses: {cause}.",
    remedy:
      "Check that REGISTRY_SECRET (of sless dev: --registry-config) holds credentials that may pull and push there.",
  },
  source_unavailable: {
    status: 502,
    consequence: "retry",
    happened: "The source archive {key} cannot be read: {cause}.",
    remedy:
      "Run `sless reconcile` for its repository to have it stored anew now, or wait for the next sync; upload once more what was uploaded.",
  },
  start_failed: {
    status: 422,
    consequence: "retry",
    happened: "It does not start: {cause}.",
    remedy: "Read `sless logs {name}` and correct the code.",
  },
  crashed: {
    status: 422,
    consequence: "retry",
    happened: "It crashed ({cause}) and is started again.",
    remedy: "Read `sless logs {name}` if you do not know why.",
  },
  crash_loop: {
    status: 422,
    consequence: "retry",
    happened: "It crashes again and again ({cause}).",
    remedy: "Read `sless logs {name}`.",
  },
  out_of_memory: {
    status: 422,
    consequence: "retry",
    happened: "It was ended because it used {used}; its memoryMB is {limit}.",
    remedy: "Set spec.memoryMB higher, or make the handler use less.",
  },
  secret_missing: {
    status: 422,
    consequence: "retry",
    happened: "Secret {secret} has no key {key}.",
    remedy: "Write it with `sless secret set {secret} {key}=-`, in the same namespace.",
  },
  image_pull_failed: {
    status: 422,
    consequence: "retry",
    happened: "Its image {image} cannot be pulled: {cause}.",
    remedy: "Check that the registry holds it and that the nodes may read it (REGISTRY_HOST, REGISTRY_SECRET).",
  },
  image_damaged: {
    status: 422,
    consequence: "retry",
    happened: "Its image on this machine is damaged: {cause}.",
    remedy:
      "Set a greater spec.runID to run a job again; for everything else it is made again from its source by itself.",
  },
  container_refused: {
    status: 422,
    consequence: "retry",
    happened: "The node cannot start its container: {cause}.",
    remedy: "Correct what the message names; it is tried again by itself.",
  },
  pod_evicted: {
    status: 422,
    consequence: "retry",
    happened: "Its node did not keep its pod: {cause}.",
    remedy: "Add a node or free what others hold, where this comes again; another pod is started by itself.",
  },
  pod_unschedulable: {
    status: 422,
    consequence: "retry",
    happened: "No node takes its pod: {cause}.",
    remedy: "Add a node, free what others hold, or set spec.memoryMB lower.",
  },
  quota_exceeded: {
    status: 422,
    consequence: "retry",
    happened: "The namespace's quota leaves no room for it: {cause}.",
    remedy: "Remove something, set replicas or memoryMB lower, or have the quota raised.",
  },
  runs_busy: {
    status: 409,
    consequence: "retry",
    happened: "{count} earlier runs of the job have not ended.",
    remedy: "Remove the job to end them, or wait: this run begins by itself once one of them ends.",
  },
  child_held: {
    status: 409,
    consequence: "retry",
    happened: "Its {kind} {name} is being deleted, and is held by finalizers: {finalizers}.",
    remedy: "Remove the finalizers, or have whoever set them do so; it is made anew by itself once it is gone.",
  },
  child_refused: {
    status: 422,
    consequence: "retry",
    happened: "The cluster refuses its {kind}: {cause}.",
    remedy: "Correct what the message names, or have the rule that refuses it changed; it is tried again by itself.",
  },
  secret_foreign: {
    status: 409,
    consequence: "stalled",
    happened: "Secret {secret} is of type {type}, which is not written here.",
    remedy: "Choose another name; what made this one keeps it.",
  },
  image_push_failed: {
    status: 502,
    consequence: "retry",
    happened: "The image cannot be pushed to {destination}: {cause}.",
    remedy:
      "Check that the registry answers and that its secret may write there (REGISTRY_HOST, REGISTRY_SECRET); it is tried again by itself.",
  },
  image_layout_invalid: {
    status: 500,
    consequence: "retry",
    happened: "The image in {layout} cannot be read: {cause}.",
    remedy: "Check that no command of the build writes into that folder; it is built again by itself.",
  },
  context_unavailable: {
    status: 502,
    consequence: "retry",
    happened: "The files of the build cannot be fetched: {cause}.",
    remedy:
      "Check that pods reach the object store (S3_ENDPOINT); they are stored anew with the next try, which comes by itself.",
  },
  runtime_unknown: {
    status: 422,
    consequence: "stalled",
    happened: "{runtime} is no runtime here.",
    remedy: "Use one of {known}.",
  },
  runtime_invalid: {
    status: 500,
    consequence: "stalled",
    happened: "{file} does not describe a runtime: {cause}.",
    remedy: "Correct it as docs/runtimes.md says and start again.",
  },
  // the machine
  storage_unavailable: {
    status: 503,
    consequence: "retry",
    happened: "{what} cannot be written or read: {cause}.",
    remedy: "Check the disk's space and rights, or that the S3 server answers.",
  },
  object_damaged: {
    status: 502,
    consequence: "retry",
    happened: "{what} is damaged in the store: {cause}.",
    remedy:
      "Run `sless reconcile` for its repository to have it stored anew now, or wait for the next sync; upload once more what was uploaded.",
  },
  cluster_unavailable: {
    status: 503,
    consequence: "retry",
    happened: "The Kubernetes API server did not answer: {cause}.",
    remedy:
      "Check that it runs and that the kubeconfig names it; what serves goes on, and sless tries again by itself.",
  },
  cluster_refused: {
    status: 403,
    consequence: "waiting",
    happened: "Kubernetes refuses it: {cause}.",
    remedy: "Correct what it names, or ask whoever runs the cluster: a quota, a right or a policy stands against it.",
  },
  data_in_use: {
    status: 409,
    consequence: "stalled",
    happened: "{data} is in use by process {pid}.",
    remedy: "Stop that process, or choose another folder with --data.",
  },
  data_too_new: {
    status: 409,
    consequence: "stalled",
    happened: "{data} was written by a newer sless (schema {found}, this one knows {known}).",
    remedy: "Start that newer version, or choose another folder with --data.",
  },
  data_corrupt: {
    status: 500,
    consequence: "stalled",
    happened: "{file} is damaged: {cause}.",
    remedy:
      "Restore it from a backup, or remove it: what is in the repository is synced anew, what was made through the API is lost.",
  },
  data_lost: {
    status: 500,
    consequence: "stalled",
    happened:
      "{file} holds changes up to version {found} only, though {last} was acknowledged: its log is damaged, or an older file took its place.",
    remedy:
      "Restore the latest file and the -wal file beside it; or remove {note} to go on with what is there: what is in the repository is synced anew, later changes through the API are lost.",
  },
  port_taken: {
    status: 409,
    consequence: "stalled",
    happened: "Port {port} is taken.",
    remedy: "Choose another one with --port, or stop what listens there.",
  },
  settings_invalid: {
    status: 400,
    consequence: "stalled",
    happened: "The settings are not valid: {cause}.",
    remedy: "Correct them and start again.",
  },
  // command line
  usage_invalid: {
    status: 400,
    consequence: "stalled",
    happened: "{cause}.",
    remedy: "Read `sless {verb} --help`.",
  },
  deletion_refused: {
    status: 502,
    consequence: "waiting",
    happened: "The registry {host} does not let images be deleted, so that garbage stays in it.",
    remedy: "Set REGISTRY_STORAGE_DELETE_ENABLED=true in the registry, or let its own retention remove old tags.",
  },
  garbage_of_others: {
    status: 409,
    consequence: "waiting",
    happened:
      "Another installation of sless ({others}) keeps its sources in this object store, so nothing is collected.",
    remedy:
      "Use a bucket of its own for each; if the other one is gone, remove the object garbage/installations/{others}.",
  },
  rollback_unsaved: {
    status: 409,
    consequence: "stalled",
    happened: "{what} is not rolled back: {paths} would be lost or taken into the commit, and is not committed.",
    remedy: "Commit it, or put it aside with `git stash -u`, and roll back again.",
  },
  rollback_commit_missing: {
    status: 404,
    consequence: "stalled",
    happened: "{what} is not rolled back: commit {commit} is not in {folder}.",
    remedy:
      "Run `git fetch` (of a shallow clone `git fetch --unshallow`), and check that this is the repository that it is deployed from.",
  },
  rollback_refused: {
    status: 409,
    consequence: "stalled",
    happened: "{what} is not rolled back: {cause}.",
    remedy: "Read `sless history {name}` for what served, or restore the files with git.",
  },
  rollback_failed: {
    status: 500,
    consequence: "stalled",
    happened: "git did not make the commit: {cause}.",
    remedy: "Correct what git says and roll back again; the folder is as it was before.",
  },
  not_a_repository: {
    status: 400,
    consequence: "stalled",
    happened: "{path} is no Git repository.",
    remedy: "Name one with --repo, or make one with `git init`.",
  },
  confirmation_needed: {
    status: 400,
    consequence: "stalled",
    happened: "{what} needs a confirmation, and nobody can be asked here.",
    remedy: "Add --yes.",
  },
} as const satisfies Record<string, ErrorRow>;

export interface ErrorRow {
  readonly status: number;
  readonly consequence: "stalled" | "waiting" | "retry";
  readonly happened: string;
  readonly remedy: string;
}
export type ErrorCode = keyof typeof ERRORS;
