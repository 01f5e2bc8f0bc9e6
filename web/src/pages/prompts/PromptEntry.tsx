import { Link } from '@tanstack/react-router'
import { Copy, Trash2 } from 'lucide-react'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import type { Prompt } from './prompt-queries.ts'
import { variableWords } from './prompt-words.ts'

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
          <Badge>versão {version}</Badge>
        </div>
        {description !== null && (
          <p className="mt-0.5 line-clamp-2 text-sm break-words text-muted">{description}</p>
        )}
        <p className="mt-1.5 text-xs text-muted">
          {default_model ?? 'sem modelo padrão'} · {variableWords(variables.length)} · alterado em{' '}
          <DateTime instant={updated_at} />
        </p>
        {tags.length > 0 && (
          <ul aria-label="Tags" className="mt-2 flex flex-wrap gap-1.5">
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
          aria-label={`Duplicar ${name}`}
          isBusy={isCloning}
          onClick={onClone}
          icon={<Copy aria-hidden="true" className="size-4" />}
        >
          Duplicar
        </Button>
        <Button
          variant="quiet"
          className="px-3"
          aria-label={`Excluir ${name}`}
          onClick={onDelete}
          icon={<Trash2 aria-hidden="true" className="size-4" />}
        >
          Excluir
        </Button>
      </div>
    </li>
  )
}
