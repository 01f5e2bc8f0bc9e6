import type { Log } from '../platform/lib/log.ts'

/** An opened part that must be closed. */
export interface Closable {
  close(): unknown
}

/** Closes the added parts in the reverse order. */
export interface Closing extends Closable {
  /** Returns the part, so that one line can open and add it. */
  add<Part extends Closable>(name: string, part: Part): Part
  /** Never rejects: a part that fails to close is logged, and the next one is closed. */
  close(): Promise<void>
}

export function createClosing(log: Log): Closing {
  const parts: { readonly name: string; readonly part: Closable }[] = []
  return {
    add(name, part) {
      parts.push({ name, part })
      return part
    },
    async close() {
      for (const { name, part } of parts.toReversed()) {
        try {
          await part.close()
        } catch (error) {
          log.warn('close_failed', { part: name, error })
        }
      }
    },
  }
}
