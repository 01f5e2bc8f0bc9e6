/** The customer's choice of theme; public/theme.js puts it on <html> before the first paint. */

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'catraca.theme'

export function readTheme(): Theme {
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
    // It then holds until the page is closed.
  }
}
