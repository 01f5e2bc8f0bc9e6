import { LeaveGuard } from './LeaveGuard.tsx'
import { t } from '../language/t.ts'

/** For pages that show a secret once: nobody loses it by a click on a link. */
export function SecretGuard({ count }: { readonly count: number }) {
  return (
    <LeaveGuard
      isOn={count > 0}
      title={t('Já guardou o segredo?')}
      confirmText={t('Já guardei, sair')}
    >
      {count === 1
        ? t(
            'O segredo desta página só aparece esta vez. Se você sair sem guardar, vai precisar de outro.',
          )
        : t(
            'Os {count} segredos desta página só aparecem esta vez. Se você sair sem guardar, vai precisar de outros.',
            { count },
          )}
    </LeaveGuard>
  )
}
