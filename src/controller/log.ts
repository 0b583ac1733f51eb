/** The part of a logger that controllers and informers use: keys and values first, then a constant message. */
export interface ControllerLog {
  debug(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
