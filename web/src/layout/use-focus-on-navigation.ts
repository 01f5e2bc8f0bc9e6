import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** After a change of page the focus goes to it, so that screen readers and the keyboard begin there. */
export function useFocusOnNavigation(): void {
  const { pathname } = useLocation()
  const before = useRef(pathname)
  useEffect(() => {
    if (before.current === pathname) return
    before.current = pathname
    document.getElementById('conteudo')?.focus({ preventScroll: true })
  }, [pathname])
}
