import { hkdfSync } from 'node:crypto'

/** Derives a key for one purpose, so that sealing and signing never share a key. */
export function deriveKey(sealingKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sealingKey, '', `catraca ${purpose}`, 32))
}
