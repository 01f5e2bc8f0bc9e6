/** What a processor says, for customers to read: who it is stays with the operator. */
export function hideProcessorName(detail: string): string {
  return detail.replaceAll(/asaas/gi, 'processador')
}
