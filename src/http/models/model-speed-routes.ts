/** How fast models answer, in the calls of everybody. Neither a customer nor an upstream is told apart in it. */
import Type from 'typebox'
import {
  SHOWN_FROM,
  SPEED_AGE_SECONDS_MAX,
  SPEED_DAYS,
  type ModelSpeeds,
  type Speed,
} from '../../money/usage/model-speeds.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, date, nullable } from '../rest/values.ts'

interface Deps extends Pick<HttpParts, 'catalog'> {
  readonly modelSpeeds: ModelSpeeds
}

const speed = {
  first_byte_ms: {
    ...nullable(Type.Number()),
    description: 'Do pedido ao modelo até o primeiro byte, mediana.',
  },
  tokens_per_second: {
    ...nullable(Type.Number()),
    description:
      'Tokens da resposta por segundo depois do primeiro byte, mediana; sem as respostas curtas e as que têm tokens de raciocínio.',
  },
}

export const modelSpeedRoutes = [
  restRoute({
    method: 'GET',
    path: '/model-speeds',
    tag: 'Modelos',
    summary: 'A rapidez de cada modelo nos últimos dias, nas respostas em stream de todos',
    access: 'public',
    query: {
      model_id: Type.Optional(Type.String({ description: 'Só este modelo, e dia a dia.' })),
    },
    answer: answer({
      days: Type.Integer(),
      models: Type.Array(
        answer({
          model_id: Type.String(),
          ...speed,
          by_day: {
            ...nullable(Type.Array(answer({ day: date, ...speed }))),
            description: 'Os dias de Brasília, do mais antigo ao mais novo; null sem model_id.',
          },
        }),
        {
          description: `Atualizada uma vez por hora, sem as respostas do cache. Um número só aparece com ao menos ${SHOWN_FROM.calls} respostas de ao menos ${SHOWN_FROM.customers} clientes, e um modelo só com algum número.`,
        },
      ),
    }),
    async handle({ query, reply }, { catalog, modelSpeeds }: Deps) {
      const wanted = query.model_id === undefined ? undefined : catalog.findNamed(query.model_id)
      const listed = new Set(catalog.listModels().map(({ id }) => id))
      const isWanted = (id: string): boolean =>
        listed.has(id) && (query.model_id === undefined || id === wanted?.id)
      const found = (await modelSpeeds.list()).filter(({ modelId }) => isWanted(modelId))
      const byDay =
        wanted && found.length > 0
          ? (await modelSpeeds.listDays(wanted.id)).map((of) => ({ day: of.day, ...speedBody(of) }))
          : null
      reply.header('cache-control', `public, max-age=${SPEED_AGE_SECONDS_MAX}`)
      return {
        days: SPEED_DAYS,
        models: found.map((of) => ({ model_id: of.modelId, ...speedBody(of), by_day: byDay })),
      }
    },
  }),
]

function speedBody({ firstByteMs, tokensPerSecond }: Speed) {
  return { first_byte_ms: firstByteMs, tokens_per_second: tokensPerSecond }
}
