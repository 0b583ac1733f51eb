/** Names of secrets and of their keys, as Kubernetes has them. */
export const SECRET_NAME_PATTERN = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
export const SECRET_KEY_PATTERN = "^[-._a-zA-Z0-9]+$";
export const SECRET_NAME_MAX_LENGTH = 253;
export const SECRET_KEY_MAX_LENGTH = 253;

const namePattern = new RegExp(SECRET_NAME_PATTERN);
const keyPattern = new RegExp(SECRET_KEY_PATTERN);

/** What to do about a name that is none. */
export const SECRET_NAME_RULE =
  'use lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit';

export function isSecretName(name: string): boolean {
  return name.length <= SECRET_NAME_MAX_LENGTH && namePattern.test(name);
}

/** The names that file systems keep for themselves are no keys. */
export function isSecretKey(key: string): boolean {
  return key.length <= SECRET_KEY_MAX_LENGTH && keyPattern.test(key) && key !== "." && key !== "..";
}
