/** What of a key is told to its customer. */
export interface KeyFacts {
  readonly id: string
  /** Who pays. */
  readonly customerId: string
  readonly name: string
  readonly lastFour: string
}

/** What the audit log is told of a key. Its name is its customer's own text, and stays out. */
export function keyAct(
  verb: 'created' | 'changed' | 'revoked',
  { id, customerId }: { readonly id: string; readonly customerId: string },
): { action: `api_key.${string}`; customerId: string; subjectId: string } {
  return { action: `api_key.${verb}`, customerId, subjectId: id }
}

/** What the customer who pays is told of a key, by mail and by webhook. */
export function keyEvent<Verb extends 'created' | 'revoked'>(
  verb: Verb,
  { id, customerId, name, lastFour }: KeyFacts,
): { customerId: string; type: `key.${Verb}`; data: Readonly<Record<string, string>> } {
  return { customerId, type: `key.${verb}`, data: { id, name, last_four: lastFour } }
}
