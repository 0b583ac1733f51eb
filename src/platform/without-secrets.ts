const SECRET_MIN_LENGTH = 4;

/** The text with every line of a secret's value masked; shorter ones than 4 characters would mask anything. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => secret.split("\n"))
    .filter((part) => part.length >= SECRET_MIN_LENGTH)
    .reduce((rest, part) => rest.replaceAll(part, "***"), text);
}
