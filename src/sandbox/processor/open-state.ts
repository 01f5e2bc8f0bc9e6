import { readFile, rename, writeFile } from 'node:fs/promises'
import type {
  SandboxCard,
  SandboxCustomer,
  SandboxEvent,
  SandboxPayment,
} from './sandbox-records.ts'

/**
 * The whole state of the sandbox. Without a file it is lost at a restart: earlier payments are then answered with 404
 * and get no more webhooks.
 */
export interface SandboxState {
  readonly customers: Map<string, SandboxCustomer>
  readonly payments: Map<string, SandboxPayment>
  readonly cards: Map<string, SandboxCard>
  /** Undelivered events, oldest first. */
  readonly events: SandboxEvent[]
  /** One counter for all numbers, so that no number is used twice. */
  nextNumber(): number
  /** Resolves when the current state is in the file. */
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
    // Written to a new file and renamed, so that a crash leaves either the old file or the new one.
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
      // Calls during a running write share the next one.
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
    // Reported below, with the name of the file.
  }
  throw new Error(`${file} is not a state of the sandbox processor; move it away to start afresh`)
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

function bigintFromText(name: string, value: unknown): unknown {
  return name === 'amountCents' ? BigInt(value as string) : value
}
