import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react'
import type { Conversation } from './conversation.ts'

/** Follows the text as it is written while its end is visible; a reader who scrolled up is left alone. */
export function useStayAtEnd({ turns }: Conversation): {
  readonly end: RefObject<HTMLDivElement | null>
  readonly isAtEnd: boolean
  readonly goToEnd: () => void
} {
  const end = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const follows = useRef(true)
  const count = useRef(turns.length)

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
    const hasMore = turns.length > count.current
    count.current = turns.length
    if (turns.length > 0 && (follows.current || hasMore)) goToEnd()
  }, [turns, goToEnd])
  return { end, isAtEnd, goToEnd }
}
