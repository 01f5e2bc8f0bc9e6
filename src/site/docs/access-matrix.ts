import { CALLERS, hasAccess, type Access, type CallerKind } from '../../http/rest/access.ts'
import type { Route } from '../../http/rest/route.ts'

export const MATRIX_MARK = '<!-- access matrix: written by `npm run docs:access` -->'

const HEADS: Readonly<Record<CallerKind, string>> = {
  calls: 'key `calls`',
  account: 'key `account`',
  limited: 'key `manage` with a limit',
  manage: 'key `manage`',
  operator: "an admin's key `operator`",
  session: 'login session',
  support: 'support',
  finance: 'finance',
  admin: 'admin',
}

type Declared = Pick<Route<never>, 'method' | 'url' | 'access' | 'stricter'>

/**
 * Returns the last part of test/acceptance/specification.md: a line for each route, a column for each kind of caller.
 */
export function renderAccessMatrix(routes: readonly Declared[]): string {
  const head = ['route', 'access', ...CALLERS.map((caller) => HEADS[caller])]
  const lines = routes.flatMap(({ method, url, access, stricter }) => {
    const name = `\`${[method].flat().join(', ')} ${url}\``
    const line = (named: string, needed: Access): string =>
      row([
        named,
        needed,
        ...CALLERS.map((caller) =>
          hasAccess(caller, needed, [method].flat()[0] ?? '') ? 'yes' : '',
        ),
      ])
    return [
      line(name, access),
      ...(stricter ? [line(`${name} with ${stricter.when}`, stricter.access)] : []),
    ]
  })
  return [MATRIX_MARK, '', row(head), row(head.map(() => '---')), ...lines, ''].join('\n')
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
