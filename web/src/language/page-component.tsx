import { lazyRouteComponent, type RouteComponent } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { codeMissing } from '../lib/code-missing.ts'
import { useLanguage } from './use-language.ts'

/** A page whose code is loaded when it is first opened, drawn again when the language changes. */
export function pageComponent<Name extends string>(
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
): RouteComponent {
  // The router would answer the browser's own error by a reload: offline, that leaves the dashboard.
  const Page = lazyRouteComponent(() => load().catch(fail), name) as RouteComponent
  function PageInLanguage() {
    useLanguage()
    return <Page />
  }
  return Object.assign(PageInLanguage, Page.preload && { preload: Page.preload })
}

function fail(): never {
  throw codeMissing()
}
