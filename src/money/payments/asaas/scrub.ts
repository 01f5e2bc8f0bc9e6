/**
 * Removes from a text all that must not get into logs and answers: card numbers and numbers that identify people, with
 * or without punctuation, e-mail addresses, API keys of Asaas, card tokens, and the given secrets.
 */
export function scrub(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of secrets) {
    if (secret !== '') clean = clean.replaceAll(secret, '***')
  }
  return clean
    .replaceAll(/\$?aact_[\w$:=-]+/g, '***')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '***')
    .replaceAll(/[^\s@<>()]+@[^\s@<>()]+/g, '***')
    .replaceAll(/\d(?:[ .\-/]?\d){9,}/g, '***')
}
