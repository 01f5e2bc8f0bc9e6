import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react'
import type { Conversation } from './conversation.ts'

/** Follows the text as it is written while its end is visible; a reader who scrolled up is left alone. */
export function useStayAtEnd({ lanes }: Conversation): {
  readonly end: RefObject<HTMLDivElement | null>
  readonly isAtEnd: boolean
  readonly goToEnd: () => void
} {
  const end = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const follows = useRef(true)
  const turnCount = lanes.reduce((sum, { turns }) => sum + turns.length, 0)
  const count = useRef(turnCount)

  const goToEnd = useCallback((): void => {
    end.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  useEffect(() => {
    const mark = end.current
    if (!mark) return
    const observer = new IntersectionObserver((entries) => {
      const isSeen = entries.at(-1)?.isIntersecting ?? true
      follows.current = isSeen
      setAtEnd(isSeen)
    })
    observer.observe(mark)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    // Always scrolls to a message that the user sends.
    const hasMore = turnCount > count.current
    count.current = turnCount
    if (turnCount > 0 && (follows.current || hasMore)) goToEnd()
    // The text of the lanes grows without more turns.
    // oxlint-disable-next-line react/exhaustive-effect-dependencies
  }, [lanes, turnCount, goToEnd])
  return { end, isAtEnd, goToEnd }
}
