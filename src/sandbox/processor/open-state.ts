import { readFile, rename, writeFile } from 'node:fs/promises'
import type {
  SandboxCard,
  SandboxCustomer,
  SandboxEvent,
  SandboxPayment,
} from './sandbox-records.ts'

/**
 * All that the sandbox knows. Without a file a restart forgets it: then payments made before are
 * answered with 404, and no webhook comes for them.
 */
export interface SandboxState {
  readonly customers: Map<string, SandboxCustomer>
  readonly payments: Map<string, SandboxPayment>
  readonly cards: Map<string, SandboxCard>
  /** Not delivered yet, the oldest first. */
  readonly events: SandboxEvent[]
  /** Counts everything that gets a number, so that none is given twice. */
  nextNumber(): number
  /** Resolves when what is there now is in the file. */
  save(): Promise<void>
}

interface StoredState {
  readonly format: 1
  readonly lastNumber: number
  readonly customers: SandboxCustomer[]
  readonly payments: SandboxPayment[]
  readonly cards: SandboxCard[]
  readonly events: SandboxEvent[]
}

export async function openState(stateFile: string | undefined): Promise<SandboxState> {
  const stored = stateFile === undefined ? undefined : await readState(stateFile)
  const customers = new Map(stored?.customers.map((one) => [one.id, one]))
  const payments = new Map(stored?.payments.map((one) => [one.id, one]))
  const cards = new Map(stored?.cards.map((one) => [one.token, one]))
  const events = stored?.events ?? []
  let lastNumber = stored?.lastNumber ?? 0
  let writing: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined

  async function write(file: string): Promise<void> {
    const state: StoredState = {
      format: 1,
      lastNumber,
      customers: [...customers.values()],
      payments: [...payments.values()],
      cards: [...cards.values()],
      events,
    }
    // Renamed into its place, so that a crash leaves the old file or the new one.
    await writeFile(`${file}.new`, JSON.stringify(state, bigintAsText), { mode: 0o600 })
    await rename(`${file}.new`, file)
  }

  return {
    customers,
    payments,
    cards,
    events,
    nextNumber: () => ++lastNumber,
    save() {
      if (stateFile === undefined) return Promise.resolve()
      // Who comes while one write is under way shares the next.
      waiting ??= writing.then(() => {
        waiting = undefined
        const written = write(stateFile)
        writing = written.catch(() => {})
        return written
      })
      return waiting
    },
  }
}

async function readState(file: string): Promise<StoredState | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const state = JSON.parse(text, bigintFromText) as StoredState
    if (state.format === 1) return state
  } catch {
    // Said below, with the name of the file.
  }
  throw new Error(`${file} is not a state of the sandbox processor; move it away to start afresh`)
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function bigintFromText(name: string, value: unknown): unknown {
  return name === 'amountCents' ? BigInt(value as string) : value
}
