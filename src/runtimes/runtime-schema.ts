import Type, { type Static } from "typebox";

const Text = Type.String({ minLength: 1, maxLength: 1000 });
const Command = Type.Array(Text, { minItems: 1 });
const FileName = Type.String({ pattern: "^[A-Za-z0-9_.-]+$" });
const Version = Type.String({ pattern: "^\\d+(\\.\\d+)*$" });
const Env = Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.String());
const closed = { additionalProperties: false };

/** `runtimes/<name>/runtime.yaml`; the fields mean what `Runtime` says. */
export const RuntimeFileSchema = Type.Object(
  {
    language: Text,
    baseImage: Text,
    runImage: Type.Optional(Text),
    runFiles: Type.Optional(Type.Array(Type.String({ pattern: "^(/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*)+$" }))),
    /** Folder of the server's files below `runtimes/`, relative to this file's folder (`../python`); default: this one. */
    server: Type.Optional(Text),
    interpreter: Type.Object(
      {
        version: Version,
        minimum: Version,
        commands: Type.Array(FileName, { minItems: 1 }),
        folders: Type.Optional(Type.Array(Type.String({ pattern: "^[~/]" }))),
        versionArgs: Type.Array(Text),
        versionPattern: Text,
        install: Text,
      },
      closed,
    ),
    dependencyFiles: Type.Optional(Type.Array(FileName)),
    install: Type.Optional(
      Type.Array(Type.Object({ when: Type.Array(FileName, { minItems: 1 }), command: Command }, closed)),
    ),
    build: Type.Optional(Type.Object({ command: Command }, closed)),
    linkDeps: Type.Optional(FileName),
    imageFiles: Type.Optional(Type.Record(FileName, Type.String())),
    handlerExtensions: Type.Array(Type.String({ pattern: "^\\.[a-z0-9]+$" }), { minItems: 1 }),
    start: Type.Object({ command: Command, env: Type.Optional(Env) }, closed),
    buildEnv: Type.Optional(Env),
  },
  closed,
);

export type RuntimeFile = Static<typeof RuntimeFileSchema>;
