import { useEffect, useId, useRef } from 'react'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly secret: string
  /** Where the messages go: several secrets may be shown. */
  readonly url: string
  readonly onDone: () => void
}

/** Part of the page rather than a dialog, which a stray click would close: the secret is shown only once. */
export function SigningSecret({ secret, url, onDone }: Props) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    heading.current?.scrollIntoView({ block: 'center' })
  }, [])
  return (
    <section
      aria-labelledby={id}
      className="mb-5 min-w-0 rounded-card border-2 border-accent bg-surface p-5 md:p-6"
    >
      <h2 id={id} ref={heading} tabIndex={-1} className="text-lg font-semibold outline-none">
        {t('Segredo das assinaturas')}
      </h2>
      <p className="mt-1 text-sm break-all">{url}</p>
      <p className="mt-1 mb-4 text-sm text-muted">
        <Trans
          id="Copie agora e guarde no seu servidor: ele só aparece esta vez. Com ele você confere, no padrão Standard Webhooks, que a mensagem veio mesmo da Catraca: {link}."
          values={{
            link: (
              <a href="/docs/webhooks#conferir" target="_blank" className="text-accent underline">
                {t('código para conferir')}
              </a>
            ),
          }}
        />
      </p>
      <div className="flex flex-col gap-3 sm:flex-row sm:items-center">
        <code
          aria-label={t('O segredo')}
          className="min-w-0 grow rounded-lg bg-sunken px-3 py-2.5 break-all select-all"
        >
          {secret}
        </code>
        <CopyButton text={secret} label={t('Copiar segredo')} variant="primary" />
        <Button variant="secondary" onClick={onDone}>
          {t('Já guardei')}
        </Button>
      </div>
    </section>
  )
}
