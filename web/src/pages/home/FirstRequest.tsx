import { CopyButton } from '../../components/CopyButton.tsx'
import { t } from '../../language/t.ts'

/** Contains a placeholder for the key: a secret is shown only once, when it is made. */
function commandFor(origin: string): string {
  return `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${t('SUA_CHAVE')}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "${t('Olá!')}"}]}'`
}

export function FirstRequest() {
  const command = commandFor(location.origin)
  return (
    <div className="mt-3 flex flex-col items-start gap-3">
      <pre
        aria-label={t('Comando da primeira chamada')}
        role="region"
        tabIndex={0}
        className="w-full overflow-x-auto rounded-lg bg-sunken p-4 text-sm"
      >
        <code>{command}</code>
      </pre>
      <CopyButton text={command} label={t('Copiar o comando')} />
    </div>
  )
}
