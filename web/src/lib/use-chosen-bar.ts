import { useState } from 'react'

interface BarEvents {
  readonly onPointerMove: () => void
  readonly onFocus: () => void
  readonly onBlur: () => void
  readonly onClick: () => void
}

export interface ChosenBar {
  /** The bar under the pointer, or else the one with the focus. */
  readonly chosen: string | undefined
  /** For the frame of all bars. */
  readonly onPointerLeave: () => void
  readonly eventsOf: (id: string) => BarEvents
}

/**
 * The bar of a chart whose figures are shown. A page that moves under a resting pointer changes nothing: browsers report
 * that the pointer entered or left a bar, but not that it moved.
 */
export function useChosenBar(): ChosenBar {
  const [pointed, setPointed] = useState<string>()
  const [focused, setFocused] = useState<string>()
  return {
    chosen: pointed ?? focused,
    onPointerLeave: () => setPointed(undefined),
    eventsOf(id) {
      function choose(): void {
        setPointed(undefined)
        setFocused(id)
      }
      return {
        onPointerMove: () => setPointed(id),
        onFocus: choose,
        onBlur: () => setFocused(undefined),
        // After a tap no browser keeps the pointer, and not every one gives the focus.
        onClick: choose,
      }
    },
  }
}
