/**
 * A request to the processor leaves within this time after its row or claim was stored, or never: another node takes the
 * row over after minutes, and counts from it whether an issuer's time is over.
 */
const SEND_WITHIN_MS = 30_000

/**
 * Whether this node was suspended since `begunAtMs`, a time before the row or the claim was stored, for too long to send
 * the request. By this node's clock, which must go on while a virtual machine is paused.
 */
export function isTooLateToSend(begunAtMs: number): boolean {
  return Date.now() - begunAtMs > SEND_WITHIN_MS
}
