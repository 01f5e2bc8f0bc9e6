import { Wrench } from 'lucide-react'
import type { ToolCall } from './conversation.ts'
import { prettyJson } from './tools-text.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** A tool call of the model: the tool's name and arguments. */
export function ToolCallView({ call }: { readonly call: ToolCall }) {
  return (
    <div className="min-w-0 overflow-hidden rounded-lg border border-line">
      <p className="flex items-center gap-2 border-b border-line bg-sunken px-4 py-2 text-sm">
        <Wrench aria-hidden="true" className="size-4 shrink-0 text-accent" />
        <span>
          <Trans
            id="Chamou {code}"
            values={{ code: <code className="font-semibold break-all">{call.name}</code> }}
          />
        </span>
      </p>
      {/* Focusable, so that it scrolls by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre
        tabIndex={0}
        aria-label={t('Argumentos de {name}', { name: call.name })}
        className="overflow-x-auto px-4 py-3 text-sm"
      >
        <code>{prettyJson(call.arguments)}</code>
      </pre>
    </div>
  )
}
