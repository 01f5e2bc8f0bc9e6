import { html } from '../../../platform/lib/html.ts'
import { audioSamples, PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

export const audioGuide: Guide = {
  slug: 'audio',
  title: 'Áudio',
  description: 'Transcreva gravações em texto ou em legendas.',
  sections: ({ origin, models }) => [
    section(
      'transcrever',
      'Transcreva um arquivo',
      html`<p>
          O arquivo vai num formulário (<code>multipart/form-data</code>), sem compressão. A
          resposta traz o texto e <code>cost_billed_brl</code>.
        </p>
        ${sampleTabs('transcrição', audioSamples({ origin, secret: PLACE_OF_SECRET, model: models.audio }))}`,
    ),
    section(
      'legendas',
      'Legendas e outros formatos',
      html`<p>
          <code>response_format</code> pode ser <code>json</code>, <code>text</code>,
          <code>srt</code>, <code>vtt</code> ou <code>verbose_json</code>. Legendas precisam de um
          modelo com marcas de tempo. Onde a resposta não é JSON, o custo vem no cabeçalho
          <code>x-svc-cost-billed-brl</code>.
        </p>
        <p>
          Com <code>stream=true</code>, em <code>json</code> ou <code>text</code>, o texto vem em
          eventos, na maioria dos modelos à medida que o áudio é ouvido; o último traz o custo.
        </p>
        ${codeBlock(
          'Uma legenda em SRT',
          `curl ${origin}/v1/audio/transcriptions \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}" \\
  -F model=${models.audio} \\
  -F file=@reuniao.mp3 \\
  -F response_format=srt`,
          'curl',
        )}`,
    ),
    section(
      'preco',
      'Como é cobrado',
      html`<p>
        Conforme o modelo, por segundo de áudio ou por token; o preço está na
        <a href="/modelos#audio">página de cada modelo</a>. <code>GET /v1/usage</code> mostra os
        segundos cobrados em <code>units</code>. Durante a chamada fica reservado o áudio mais longo
        que o arquivo pode conter: perto da duração em MP3, Ogg, WebM e WAV, e até a maior duração
        que o modelo aceita em M4A e MP4. Com pouco saldo, envie um dos primeiros.
      </p>`,
    ),
  ],
}
