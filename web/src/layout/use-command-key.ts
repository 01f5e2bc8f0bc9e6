import { useCallback, useEffect, useState } from 'react'
import { explainError } from '../api/explain-error.ts'
import { useToast } from '../components/Toast.tsx'
import { codeMissing } from '../lib/code-missing.ts'

export interface CommandKey {
  readonly isOpen: boolean
  /** Its code is loaded when it is first opened. */
  readonly wasOpened: boolean
  readonly open: () => void
  readonly close: () => void
}

export const loadCommandMenu = () => import('./CommandMenu.tsx')

/** Ctrl-K or ⌘K, on every page. */
export function useCommandKey(): CommandKey {
  const [state, setState] = useState({ isOpen: false, wasOpened: false })
  const toast = useToast()
  // Drawn only once its code is there: without it, the page would be replaced by an error.
  const open = useCallback(
    () =>
      void loadCommandMenu().then(
        () => setState({ isOpen: true, wasOpened: true }),
        () => toast(explainError(codeMissing()), 'danger'),
      ),
    [toast],
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      if (event.shiftKey || event.altKey) return
      event.preventDefault()
      // A dialog that asks something is not left behind another one.
      if (document.querySelector('dialog[open]') === null) open()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [open])
  return { ...state, open, close: () => setState((before) => ({ ...before, isOpen: false })) }
}
