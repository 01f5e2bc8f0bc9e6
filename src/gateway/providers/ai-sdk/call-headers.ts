/** Returns the headers of every request to an upstream, apart from its credentials. */
export function callHeaders(callId: string): Record<string, string> {
  return { 'x-catraca-call-id': callId, 'user-agent': 'catraca' }
}
