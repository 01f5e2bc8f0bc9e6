import { Link } from '@tanstack/react-router'
import { Copy, Trash2 } from 'lucide-react'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import type { Prompt } from './prompt-queries.ts'
import { variableWords } from './prompt-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly prompt: Prompt
  readonly isCloning: boolean
  readonly onClone: () => void
  readonly onDelete: () => void
}

export function PromptEntry({ prompt, isCloning, onClone, onDelete }: Props) {
  const { id, name, description, tags, version, variables, default_model, updated_at } = prompt
  return (
    <li className="relative flex flex-wrap items-start justify-between gap-x-4 gap-y-2 rounded-card border border-line bg-surface p-4 shadow-card focus-within:border-accent hover:border-line-strong md:p-5">
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <h2 className="min-w-0 font-semibold break-words">
            <Link
              to="/prompts/$id"
              params={{ id }}
              // Makes the whole entry clickable.
              className="after:absolute after:inset-0 after:rounded-card"
            >
              {name}
            </Link>
          </h2>
          <Badge>
            <Trans id="versão {version}" values={{ version }} />
          </Badge>
        </div>
        {description !== null && (
          <p className="mt-0.5 line-clamp-2 text-sm break-words text-muted">{description}</p>
        )}
        <p className="mt-1.5 text-xs text-muted">
          <Trans
            id="{defaultModel} · {variables} · alterado em {dateTime}"
            values={{
              defaultModel: default_model ?? t('sem modelo padrão'),
              variables: variableWords(variables.length),
              dateTime: <DateTime instant={updated_at} />,
            }}
          />
        </p>
        {tags.length > 0 && (
          <ul aria-label={t('Tags')} className="mt-2 flex flex-wrap gap-1.5">
            {tags.map((tag) => (
              <li key={tag} className="max-w-full">
                <Badge tone="accent">{tag}</Badge>
              </li>
            ))}
          </ul>
        )}
      </div>
      {/* Above the link that covers the entry. */}
      <div className="relative z-10 -my-1.5 -ml-3 flex sm:ml-0">
        <Button
          variant="quiet"
          className="px-3"
          aria-label={t('Duplicar {name}', { name })}
          isBusy={isCloning}
          onClick={onClone}
          icon={<Copy aria-hidden="true" className="size-4" />}
        >
          {t('Duplicar')}
        </Button>
        <Button
          variant="quiet"
          className="px-3"
          aria-label={t('Excluir {name}', { name })}
          onClick={onDelete}
          icon={<Trash2 aria-hidden="true" className="size-4" />}
        >
          {t('Excluir')}
        </Button>
      </div>
    </li>
  )
}
