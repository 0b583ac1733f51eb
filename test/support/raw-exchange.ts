import { connect } from "node:net";

/** Sends bytes as they are and collects what comes back until the server closes. */
export async function rawExchange(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text, "latin1");
  let answer = "";
  for await (const chunk of socket) answer += (chunk as Buffer).toString("latin1");
  return answer;
}
