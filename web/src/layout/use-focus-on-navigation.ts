import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Moves the focus to the new page after a navigation, so that screen readers and the keyboard start there. */
export function useFocusOnNavigation(): void {
  const { pathname } = useLocation()
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    document.getElementById('conteudo')?.focus({ preventScroll: true })
  }, [pathname])
}
