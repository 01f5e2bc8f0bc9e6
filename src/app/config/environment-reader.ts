import { accessSync, constants, statSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { resolve } from 'node:path'
import { createIpMatcher } from '../../customers/ip-allowlist.ts'
import { readDatabaseAddress } from '../../platform/db/database-address.ts'
import { isMailAddress } from '../../deliveries/email/mail-address.ts'
import { parseE4 } from '../../platform/lib/money.ts'
import { parseSealingKey } from '../../platform/lib/sealing-key.ts'
import { readSigningSecret } from '../../deliveries/webhooks/sign-webhook.ts'

const WORKERS_MAX = 64
/** A worker takes some 200 MB under load, and its part of the bodies and unread answers; so does the parent. */
const PROCESS_BYTES = 400 * 1024 ** 2

/**
 * Reads environment variables one by one. An invalid value is recorded as a fault, and reads as if the variable were
 * not set.
 */
export class EnvironmentReader {
  private readonly environment: Environment
  private readonly faults: string[]

  constructor(environment: Environment, faults: string[]) {
    this.environment = environment
    this.faults = faults
  }

  oneOf<Value extends string>(name: string, values: readonly Value[], fallback: Value): Value {
    const value = this.environment[name] || fallback
    if (values.includes(value as Value)) return value as Value
    this.faults.push(`${name}: must be one of ${values.join(', ')}, not "${value}"`)
    return fallback
  }

  whole(name: string, fallback: number, min: number, max: number): number {
    const text = this.environment[name] || String(fallback)
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    this.faults.push(`${name}: must be a whole number from ${min} to ${max}, not "${text}"`)
    return fallback
  }

  wholeIfSet(name: string, min: number, max: number): number | undefined {
    return this.environment[name] ? this.whole(name, min, min, max) : undefined
  }

  ports(name: string, probeName: string): { port: number; probePort: number | undefined } {
    const port = this.whole(name, 8080, 0, 65_535)
    const isProbed = Boolean(this.environment[probeName])
    const probePort = isProbed ? this.whole(probeName, 0, 1, 65_535) : undefined
    if (probePort === port) this.faults.push(`${probeName}: must be another port than ${name}`)
    return { port, probePort }
  }

  /** A number of processes, or `auto`: as many as the cores and the memory of this machine, or of its control group. */
  workers(name: string, fallback: string): number {
    const text = this.environment[name] || fallback
    return text === 'auto'
      ? workersThatFit(availableParallelism(), memoryBytes())
      : this.whole(name, 1, 1, WORKERS_MAX)
  }

  rate(name: string): bigint | undefined {
    if (!this.environment[name]) return undefined
    const value = parseE4(this.environment[name])
    if (value !== undefined && value > 0n && value < 1_000_000n) return value
    this.faults.push(
      `${name}: must be a rate such as 5.2000, below 100 and with at most four decimals`,
    )
    return undefined
  }

  databaseUrl(name: string): string | undefined {
    const value = this.environment[name] || undefined
    if (value !== undefined && !/^postgres(ql)?:\/\//.test(value))
      this.faults.push(`${name}: must begin with postgres:// or postgresql://`)
    else if (value !== undefined && !isReadable(value))
      this.faults.push(
        `${name}: must be an address such as postgres://user:password@host:5432/name`,
      )
    return value
  }

  /** The absolute path; relative ones start at `folder`. */
  readableFile(name: string, folder: string): string | undefined {
    const file = this.environment[name]
    if (!file) return undefined
    const path = resolve(folder, file)
    if (!isReadableFile(path)) this.faults.push(`${name}: ${path} cannot be read`)
    return path
  }

  address(name: string): string | undefined {
    const value = this.environment[name] || undefined
    if (value === undefined) return undefined
    const url = URL.canParse(value) ? new URL(value) : undefined
    if (url && /^https?:$/.test(url.protocol) && url.pathname === '/') return url.origin
    this.faults.push(`${name}: must be an address such as https://api.example.com, without a path`)
    return undefined
  }

  secretsKey(name: string): Buffer | undefined {
    const value = this.environment[name]
    if (!value) return undefined
    const key = parseSealingKey(value)
    if (!key) this.faults.push(`${name}: must be 32 bytes in base64, as of openssl rand -base64 32`)
    return key
  }

  previousSecretsKey(name: string, current: string): Buffer | undefined {
    const key = this.secretsKey(name)
    if (key && !this.environment[current])
      this.faults.push(
        `${name}: opens secrets that are to be sealed anew with ${current}, which is not set`,
      )
    if (key && this.environment[current] && parseSealingKey(this.environment[current])?.equals(key))
      this.faults.push(`${name}: must be another key than ${current}`)
    return key
  }

  signingSecret(name: string): Buffer | undefined {
    const value = this.environment[name]
    if (!value) return undefined
    const secret = readSigningSecret(value)
    if (!secret)
      this.faults.push(
        `${name}: must be whsec_ and 24 to 64 bytes in base64, as the provider shows it`,
      )
    return secret
  }

  list(name: string): string[] {
    return (this.environment[name] ?? '')
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean)
  }

  /** In lower case. */
  emails(name: string): string[] {
    const entries = this.list(name)
    for (const entry of entries)
      if (!isMailAddress(entry)) this.faults.push(`${name}: "${entry}" is no e-mail address`)
    return entries.map((entry) => entry.toLowerCase())
  }

  /** A secret that a header carries. */
  token(name: string): string | undefined {
    const value = this.environment[name] || undefined
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
      this.faults.push(`${name}: must be letters without accents, digits and signs, without spaces`)
    return value
  }

  /** Origins as browsers send them; `*` if nothing is set, none for `none`. */
  origins(name: string): '*' | readonly string[] {
    const entries = this.list(name)
    if (entries.length === 0 || (entries.length === 1 && entries[0] === '*')) return '*'
    if (entries.length === 1 && entries[0] === 'none') return []
    for (const entry of entries)
      if (URL.parse(entry)?.origin !== entry)
        this.faults.push(`${name}: "${entry}" is no origin, such as https://app.example.com`)
    return entries
  }

  addresses(name: string): readonly string[] | false {
    const entries = this.list(name)
    try {
      createIpMatcher(entries)
    } catch (error) {
      this.faults.push(`${name}: ${(error as Error).message}`)
    }
    return entries.length > 0 ? entries : false
  }
}

/** As an address whose parts are percent-encoded. */
function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function isReadable(address: string): boolean {
  try {
    const { connectionString, hosts } = readDatabaseAddress(address)
    if (hosts.some(({ host, port }) => host === '' || port > 65_535)) return false
    const { username, password, pathname } = new URL(connectionString)
    return [username, password, pathname].every((part) => decodeURIComponent(part) !== undefined)
  } catch {
    return false
  }
}

/** Node.js says 0 where it cannot tell the limit of the control group. */
function memoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity)
}

/**
 * Returns the number of workers to start: one for each core, as long as each of them and their parent have room. 1
 * means that the process works alone.
 */
export function workersThatFit(cores: number, memoryBytes: number): number {
  const fitting = Math.floor(memoryBytes / PROCESS_BYTES) - 1
  return Math.max(1, Math.min(cores, fitting, WORKERS_MAX))
}

/** The environment variables of the process; only `config.ts` receives them. */
export type Environment = Readonly<Record<string, string | undefined>>
