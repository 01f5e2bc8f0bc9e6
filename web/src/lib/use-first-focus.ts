import { useEffect, useRef, type RefObject } from 'react'

/**
 * Focuses the element with this ref when it appears (with `tabIndex={-1}` if it is not focusable itself). Use
 * it when the button that led here is gone, so that screen readers and the keyboard continue here.
 */
export function useFirstFocus<Shown extends HTMLElement>(): RefObject<Shown | null> {
  const ref = useRef<Shown>(null)
  useEffect(() => ref.current?.focus(), [])
  return ref
}
