import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

export function SandboxNotice() {
  return (
    <aside
      aria-label={t('Modo de teste')}
      className="bg-warning-soft px-4 py-2 text-center text-sm text-warning"
    >
      <Trans
        id="{strong} nada aqui usa dinheiro nem modelos de verdade. {link}"
        values={{
          strong: <strong className="font-semibold">{t('Modo de teste:')}</strong>,
          link: (
            <a href="/mailbox" className="font-medium underline underline-offset-2">
              {t('Ver os e-mails enviados')}
            </a>
          ),
        }}
      />
    </aside>
  )
}
