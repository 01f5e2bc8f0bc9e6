/**
 * Takes out of a text what must not get into logs and answers: numbers of cards and of people, with or
 * without punctuation, addresses of mail, keys of Asaas, tokens of cards, and the given secrets.
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
