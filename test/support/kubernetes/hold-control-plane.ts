/** Starts a control plane, tells its folder, and stays until it is killed. */
import { startControlPlane } from "./control-plane.ts";

const { address } = await startControlPlane({ controllers: false, crds: false });
process.stdout.write(`${address.folder}\n`);
process.stdin.resume();
