/** The customer's theme; public/theme.js applies it to <html> before the first paint. */

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'catraca.theme'

export function readTheme(): Theme {
  // Pages are drawn where there is no document, too (`web/draw-stills.ts`).
  if (typeof document === 'undefined') return 'system'
  const { classList } = document.documentElement
  if (classList.contains('dark')) return 'dark'
  return classList.contains('light') ? 'light' : 'system'
}

export function chooseTheme(theme: Theme): void {
  const { classList } = document.documentElement
  classList.remove('light', 'dark')
  if (theme !== 'system') classList.add(theme)
  try {
    if (theme === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}
