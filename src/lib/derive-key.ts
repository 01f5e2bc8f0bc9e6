import { hkdfSync } from 'node:crypto'

/** What is sealed and what is signed have nothing in common but where their keys come from. */
export function deriveKey(sealingKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sealingKey, '', `catraca ${purpose}`, 32))
}
