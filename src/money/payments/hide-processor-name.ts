/** Makes a text of the processor fit for customers, who must not learn which processor the operator uses. */
export function hideProcessorName(detail: string): string {
  return detail.replaceAll(/asaas/gi, 'processador')
}
