import { useEffect, useRef, useState } from 'react'
import { urlOf } from '../../api/client.ts'
import { download } from '../../api/download.ts'
import { explainError } from '../../api/explain-error.ts'

export type ExportPath = '/usage/export.csv' | '/usage/export.json'

interface Days {
  readonly from: string
  readonly to: string
}

interface UsageExport {
  /** Bytes of the running export; undefined when none is running. */
  readonly bytes: number | undefined
  readonly error: string | undefined
  readonly start: (path: ExportPath, days: Days) => Promise<void>
  readonly cancel: () => void
}

/** Leaving the page or closing the dialog cancels the running export. */
export function useExport(onDone: () => void): UsageExport {
  const [bytes, setBytes] = useState<number>()
  const [error, setError] = useState<string>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  return {
    bytes,
    error,
    async start(path, days) {
      const own = new AbortController()
      running.current = own
      setError(undefined)
      setBytes(0)
      try {
        await download(urlOf(path, { query: days }), { signal: own.signal, onBytes: setBytes })
        onDone()
      } catch (failure) {
        if (own.signal.aborted) return
        setError(explainError(failure))
      } finally {
        if (running.current === own) setBytes(undefined)
      }
    },
    cancel: () => running.current?.abort(),
  }
}
