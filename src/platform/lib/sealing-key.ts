/** Reads or creates the key that secrets are sealed with. */
import { randomBytes, hkdfSync } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SEALING_KEY_BYTES } from './seal.ts'

const FILE = 'secrets.key'

/** Reads 32 bytes in base64, as `openssl rand -base64 32` writes them; undefined for anything else. */
export function parseSealingKey(text: string): Buffer | undefined {
  const plain = text.trim().replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  const key = Buffer.from(plain, 'base64')
  // The decoder skips or cuts off invalid characters, so only a valid text survives the round trip.
  const isWhole = key.toString('base64').replace(/=+$/, '') === plain
  return isWhole && key.length === SEALING_KEY_BYTES ? key : undefined
}

/**
 * Returns the sealing key of sandbox mode, which is made once and kept in the data folder, readable by its owner only.
 * Throws if the file does not hold a key.
 */
export async function ensureSealingKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, FILE)
  await mkdir(dataDir, { recursive: true })
  await writeNew(path, `${randomBytes(SEALING_KEY_BYTES).toString('base64')}\n`)
  const key = parseSealingKey(await readFile(path, 'utf8'))
  if (!key) throw new Error(`${path} does not hold a key of ${SEALING_KEY_BYTES} bytes in base64`)
  return key
}

/** Writes the file atomically and syncs it before anything is sealed with the key. An existing file stays. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined
    throw error
  })
  if (!file) return
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Derives a key for one purpose, so that sealing and signing never share a key. */
export function deriveKey(sealingKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sealingKey, '', `catraca ${purpose}`, 32))
}
