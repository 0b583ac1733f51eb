import { keyOf, type ObjectKey } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import { paced } from "./paced.ts";

export interface HookLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** What goes wrong with deliveries: told the operator with its reasons, and whoever sent them without. */
export interface DeliveryFaults {
  /**
   * @param reason for the log
   * @param isWanted the repository takes deliveries, so that its secrets and those of the forge are to be mended
   */
  refusal(key: ObjectKey, reason: string, isWanted?: boolean): SlessError;
  /** There is no room for a delivery. */
  busy(key: ObjectKey): void;
  /** @throws SlessError `hooks_unavailable` when it fails: a sender need not know how sless is built */
  available<T>(key: ObjectKey, work: Promise<T>): Promise<T>;
  /** Nobody waits for it any more. */
  hintFailed(error: unknown, key: ObjectKey): void;
  close(): Promise<void>;
}

/** What is wrong is told once, not for every delivery. */
const WARN_PAUSE_MS = 60_000;

export function deliveryFaults({ clock, log }: { readonly clock: TimerClock; readonly log: HookLog }): DeliveryFaults {
  const warnings = paced<{ readonly fields: object; readonly message: string }>({
    clock,
    pauseMs: WARN_PAUSE_MS,
    work: ({ fields, message }) => log.warn(fields, message),
    onError: () => undefined,
  });
  const warn = (key: string, fields: object, message: string) => void warnings.ask(key, { fields, message });
  return {
    refusal({ namespace, name }, reason, isWanted = false) {
      const fields = { namespace, name, reason };
      const message = "webhook delivery refused";
      if (isWanted) warn(`refused ${keyOf({ namespace, name })}`, fields, message);
      else log.debug(fields, message);
      return new SlessError("hook_refused");
    },
    busy: ({ namespace, name }) => warn("busy", { namespace, name }, "too many webhook deliveries at once"),
    async available({ namespace, name }, work) {
      try {
        return await work;
      } catch (error) {
        warn("unavailable", { namespace, name, err: messageOf(error) }, "webhook delivery not taken");
        throw new SlessError("hooks_unavailable", {}, { cause: error });
      }
    },
    hintFailed: (error, { namespace, name }) =>
      warn("hint", { namespace, name, err: messageOf(error) }, "webhook's hint not given"),
    close: warnings.close,
  };
}
