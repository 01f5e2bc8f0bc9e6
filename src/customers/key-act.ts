/** What the audit log is told of a key. Its name is its customer's own text, and stays out. */
export function keyAct(
  verb: 'created' | 'changed' | 'revoked',
  { id, customerId }: { readonly id: string; readonly customerId: string },
): { action: `api_key.${string}`; customerId: string; subjectId: string } {
  return { action: `api_key.${verb}`, customerId, subjectId: id }
}
