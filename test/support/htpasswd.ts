import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface TestUser {
  readonly username: string;
  readonly password: string;
}

/** The lines of a password file as registries take it. */
export async function htpasswd(users: readonly TestUser[]): Promise<string> {
  const lines = users.map(async ({ username, password }) => `${username}:${await bcrypt(password)}\n`);
  return (await Promise.all(lines)).join("");
}

/** Debian's perl has the only bcrypt that is on every machine; it is the one form that the registry takes. */
async function bcrypt(password: string): Promise<string> {
  const { stdout } = await run("perl", ["-e", "print crypt($ARGV[0], q($2y$05$abcdefghijklmnopqrstuu))", password]);
  return stdout;
}
