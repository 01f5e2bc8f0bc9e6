/** What every request to an upstream carries beside its credentials. */
export function callHeaders(callId: string): Record<string, string> {
  return { 'x-catraca-call-id': callId, 'user-agent': 'catraca' }
}
