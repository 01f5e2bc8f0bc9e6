import { useEffect, useRef, type RefObject } from 'react'

/**
 * The focus, when what has this ref appears (with `tabIndex={-1}`, where it takes none by itself): where the button that led here is gone, readers
 * and the keyboard go on at what it says.
 */
export function useFirstFocus<Shown extends HTMLElement>(): RefObject<Shown | null> {
  const ref = useRef<Shown>(null)
  useEffect(() => ref.current?.focus(), [])
  return ref
}
