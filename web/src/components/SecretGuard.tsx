import { LeaveGuard } from './LeaveGuard.tsx'

/** For pages that show a secret once: nobody loses it by a click on a link. */
export function SecretGuard({ count }: { readonly count: number }) {
  return (
    <LeaveGuard isOn={count > 0} title="Já guardou o segredo?" confirmText="Já guardei, sair">
      {count === 1
        ? 'O segredo desta página só aparece esta vez. Se você sair sem guardar, vai precisar de outro.'
        : `Os ${count} segredos desta página só aparecem esta vez. Se você sair sem guardar, vai precisar de outros.`}
    </LeaveGuard>
  )
}
