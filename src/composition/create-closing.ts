import type { Log } from '../lib/log.ts'

/** Something that was opened and has to be closed. */
export interface Closable {
  close(): unknown
}

/** Closes the parts that were added, in the reverse order. */
export interface Closing extends Closable {
  /** Returns the part, so that one line opens it and adds it. */
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
