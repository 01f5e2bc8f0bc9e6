import { useEffect, useState } from 'react'

export interface CommandKey {
  readonly isOpen: boolean
  /** Its code is loaded when it is first opened. */
  readonly wasOpened: boolean
  readonly open: () => void
  readonly close: () => void
}

/** Ctrl-K or ⌘K, on every page. */
export function useCommandKey(): CommandKey {
  const [state, setState] = useState({ isOpen: false, wasOpened: false })
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      if (event.shiftKey || event.altKey) return
      event.preventDefault()
      // A dialog that asks something is not left behind another one.
      if (document.querySelector('dialog[open]') === null) setState(OPEN)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  return {
    ...state,
    open: () => setState(OPEN),
    close: () => setState((before) => ({ ...before, isOpen: false })),
  }
}

const OPEN = { isOpen: true, wasOpened: true }
